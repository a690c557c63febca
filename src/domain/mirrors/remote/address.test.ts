/** Addresses of other servers, and texts without what opens them. */
import { expect, test } from 'vitest';
import { below, parseAddress, withoutSecrets } from './address.ts';

const rules = { allowLocal: false, allowlist: ['10.0.0.5:8080'] };

test.each([
  ['https://example.com/a.git', { url: 'https://example.com/a.git', credentials: undefined }],
  [' HTTPS://Example.com/a ', { url: 'https://example.com/a', credentials: undefined }],
  [
    'https://ada:s%2Fx@example.com/a',
    { url: 'https://example.com/a', credentials: { user: 'ada', password: 's/x' } },
  ],
  [
    'https://token@example.com/a',
    { url: 'https://example.com/a', credentials: { user: 'token', password: '' } },
  ],
  ['http://10.0.0.5:8080/a', { url: 'http://10.0.0.5:8080/a', credentials: undefined }],
  ['http://10.0.0.5/a', { problem: 'is blocked: Requests to the local network are not allowed' }],
  ['https://a%3Ab:c@example.com/a', { problem: 'has a name or password that cannot be sent' }],
  ['https://example.com/a#b', { problem: 'must have no query and no fragment' }],
  ['', { problem: "can't be blank" }],
  [`https://example.com/${'a'.repeat(2_048)}`, { problem: 'is too long (maximum is 2048 characters)' }],
])('%s', (written, expected) => {
  expect(parseAddress(written, rules)).toEqual(expected);
});

test.each([
  ['https://example.com/a', 'info/refs', 'https://example.com/a/info/refs'],
  ['https://example.com/a//', 'info/refs', 'https://example.com/a/info/refs'],
])('below %s is %s', (url, path, expected) => {
  expect(below(url, path)).toBe(expected);
});

test.each([
  ['fatal: https://ada:secret@example.com/a is gone', 'fatal: https://*****:*****@example.com/a is gone'],
  ['it says s/x and s%2Fx', 'it says ***** and *****'],
])('%s', (text, expected) => {
  expect(withoutSecrets(text, { user: 'ada', password: 's/x' })).toBe(expected);
});

test('a token that stands for name and password is not shown', () => {
  const token = { user: 'glpat-x', password: '' };
  expect(withoutSecrets('no access with glpat-x', token)).toBe('no access with *****');
});
