/** The rules of external status checks, case by case. */
import { expect, test } from 'vitest';
import { addressProblem, type CheckResponse, statusOf } from './rules.ts';

const NOW = new Date('2030-01-01T12:00:00Z');
const ago = (milliseconds: number) => new Date(NOW.getTime() - milliseconds);

test.each<[what: string, response: Partial<CheckResponse> | undefined, status: string]>([
  ['without a response', undefined, 'pending'],
  ['that passed', { status: 'passed' }, 'passed'],
  ['that passed long ago', { status: 'passed', updatedAt: ago(10_000_000) }, 'passed'],
  ['that failed', { status: 'failed' }, 'failed'],
  ['that passed for another commit', { status: 'passed', sha: 'b' }, 'pending'],
  ['that failed for another commit', { status: 'failed', sha: 'b' }, 'pending'],
  ['that is asked', { status: 'pending' }, 'pending'],
  ['that is asked for a while', { status: 'pending', updatedAt: ago(119_999) }, 'pending'],
  ['that is asked for two minutes', { status: 'pending', updatedAt: ago(120_000) }, 'failed'],
])('a check %s', (_what, response, status) => {
  const whole = response && { sha: 'a', status: 'passed' as const, updatedAt: NOW, ...response };
  expect(statusOf(whole, 'a', NOW)).toBe(status);
});

test.each<[address: string, problem: RegExp | undefined]>([
  ['https://checks.example/new?a=b', undefined],
  ['http://10.0.0.1/', undefined],
  ['ftp://checks.example', /only http and https/],
  ['file:///etc/passwd', /only http and https/],
  ['checks.example', /only http and https/],
  ['', /only http and https/],
  ['https://user:secret@checks.example', /credentials/],
])('the address %s', (address, problem) => {
  if (problem) expect(addressProblem(address)).toMatch(problem);
  else expect(addressProblem(address)).toBeUndefined();
});
