/** Cases of changed policies. */
import { expect, test } from 'vitest';
import { changedPolicy, defaultExpirationPolicy, nextRun } from './expiration-policy.ts';

const at = new Date('2026-01-31T10:00:00Z');

test.each([
  ['1d', '2026-02-01T10:00:00.000Z'],
  ['14d', '2026-02-14T10:00:00.000Z'],
  ['1month', '2026-03-02T10:00:00.000Z'],
  ['3month', '2026-05-01T10:00:00.000Z'],
] as const)('%s after is %s', (cadence, next) => expect(nextRun({ cadence }, at)).toBe(next));

test.each([
  [{}, {}],
  [{ enabled: true }, { enabled: true }],
  [
    { keep_n: null, older_than: null },
    { keep_n: null, older_than: null },
  ],
  [{ name_regex: 'a' }, { name_regex: 'a' }],
  [{ name_regex: 'a', name_regex_delete: 'b' }, { name_regex: 'b' }],
] as const)('%j makes %j of the default', (attributes, changed) =>
  expect(changedPolicy(defaultExpirationPolicy, attributes, at)).toEqual({
    ...defaultExpirationPolicy,
    ...changed,
    next_run_at: '2026-02-01T10:00:00.000Z',
  }),
);
