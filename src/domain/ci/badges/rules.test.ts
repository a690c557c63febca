import { expect, test } from 'vitest';
import type { Status } from '../processing/status.ts';
import { coverageBadge, drawBadge, pipelineBadge } from './rules.ts';

test.each<[Status | undefined, string, string]>([
  ['success', 'passed', '#4c1'],
  ['failed', 'failed', '#e05d44'],
  ['running', 'running', '#dfb317'],
  ['canceled', 'canceled', '#9f9f9f'],
  ['waiting_for_resource', 'waiting for resource', '#9f9f9f'],
  [undefined, 'unknown', '#9f9f9f'],
])('a pipeline that is %s is %s', (status, value, colour) => {
  expect(pipelineBadge(status, {})).toMatchObject({ key: 'pipeline', value, colour, keyWidth: 62 });
});

test.each<[number | undefined, object, string, string]>([
  [95, {}, '95.00%', '#4c1'],
  [94.99, {}, '94.99%', '#a3c51c'],
  [80, {}, '80.00%', '#dfb317'],
  [74, {}, '74.00%', '#e05d44'],
  [74, { min_good: '70' }, '74.00%', '#4c1'],
  // What is no percentage is passed over.
  [74, { min_good: '-1' }, '74.00%', '#e05d44'],
  [undefined, {}, 'unknown', '#9f9f9f'],
])('a coverage of %s with %j is %s in %s', (coverage, limits, value, colour) => {
  expect(coverageBadge(coverage, limits)).toMatchObject({ key: 'coverage', value, colour });
});

test.each<[object, string, number]>([
  [{ key_text: 'tests', key_width: '80' }, 'tests', 80],
  [{ key_text: 'x'.repeat(65), key_width: '512' }, 'pipeline', 62],
  [{ key_text: '', key_width: 'wide' }, 'pipeline', 62],
  [{ key_text: ['a'], key_width: '-1' }, 'pipeline', 62],
])('%j says %s on %i pixels', (wishes, key, keyWidth) => {
  expect(pipelineBadge('success', wishes)).toMatchObject({ key, keyWidth });
});

test('words are escaped, and corners are as the style wants them', () => {
  const badge = pipelineBadge('success', { key_text: '<script>&"' });
  const drawn = drawBadge(badge, undefined);
  expect(drawn).toContain('&lt;script&gt;&amp;&quot;: passed</title>');
  expect(drawn).not.toContain('<script>');
  expect(drawn).toContain('rx="3"');
  expect(drawBadge(badge, 'flat-square')).toContain('rx="0"');
});
