/** Client keys in queries, headers and DSNs. */
import { expect, test } from 'vitest';
import { dsnOf, keyOfDsn, makeKey, readClientKey } from './client-keys.ts';

const KEY = 'glet_0123456789abcdef0123456789abcdef';

test('a key is what the public API says', () => {
  expect(makeKey()).toMatch(/^glet_[0-9a-f]{32}$/);
  expect(makeKey()).not.toBe(makeKey());
});

test.each([
  ['https://ashlar.example', `https://${KEY}@ashlar.example/api/v4/error_tracking/collector/7`],
  ['http://127.0.0.1:8080', `http://${KEY}@127.0.0.1:8080/api/v4/error_tracking/collector/7`],
])('the address for an application at %s', (baseUrl, dsn) => {
  expect(dsnOf(baseUrl, KEY, 7)).toBe(dsn);
  expect(keyOfDsn(dsn)).toBe(KEY);
});

test.each(['', 'nonsense', 'https://ashlar.example/1', 'https://other@ashlar.example/1'])(
  'no key in the address %j',
  (dsn) => {
    expect(keyOfDsn(dsn)).toBeUndefined();
  },
);

test.each<[string, string, Record<string, string>, object]>([
  ['the query', `sentry_version=7&sentry_key=${KEY}`, {}, { key: KEY, isGiven: true }],
  [
    'the header',
    '',
    { 'x-sentry-auth': `Sentry sentry_version=7, sentry_client=raven/1, sentry_key=${KEY}` },
    { key: KEY, isGiven: true },
  ],
  ['the header, key first', '', { 'x-sentry-auth': `Sentry sentry_key=${KEY}` }, { key: KEY, isGiven: true }],
  [
    'the header, without spaces',
    '',
    { 'x-sentry-auth': `sentry sentry_version=7,sentry_key=${KEY},sentry_secret=x` },
    { key: KEY, isGiven: true },
  ],
  [
    'the other header',
    '',
    { authorization: `Sentry sentry_version=7, sentry_key=${KEY}` },
    { key: KEY, isGiven: true },
  ],
  [
    'the query before the header',
    `sentry_key=${KEY}`,
    { 'x-sentry-auth': 'Sentry sentry_key=other' },
    { key: KEY, isGiven: true },
  ],
  ['another key', 'sentry_key=abc', {}, { key: undefined, isGiven: true }],
  ['an empty key', 'sentry_key=', {}, { key: undefined, isGiven: true }],
  [
    'credentials of another kind',
    '',
    { authorization: 'Bearer glpat-1' },
    { key: undefined, isGiven: false },
  ],
  ['nothing', 'a=b', {}, { key: undefined, isGiven: false }],
])('the key in %s', (_, query, headers, presented) => {
  expect(readClientKey({ query, headers })).toEqual(presented);
});
