/** Cases of tags that go and stay. */
import { expect, test } from 'vitest';
import { patternCompiler, wholePatternProblem } from '../../../platform/patterns/pattern.ts';
import { ageIn, tagSelector } from './rules.ts';

const HOUR = 3_600_000;

test.each([
  ['1h', HOUR],
  ['2d', 48 * HOUR],
  ['3 days', 72 * HOUR],
  ['1 week', 168 * HOUR],
  ['1month', 720 * HOUR],
  ['2months', 1_440 * HOUR],
  ['0d', 0],
  ['d', undefined],
  ['-1d', undefined],
  ['1y2', undefined],
  ['1constructor', undefined],
  ['', undefined],
])('%s is %s ms', (text, age) => expect(ageIn(text)).toBe(age));

const all = { delete: '.*', keep: null, keepNewest: 0, before: null };
const tags = ['latest', 'v3', 'dev-2', 'v2', 'dev-1', 'v1'].map((name, index) => ({
  name,
  updated_at: new Date(10_000 - index * 1_000),
}));

test.each([
  ['all but latest', all, ['v3', 'dev-2', 'v2', 'dev-1', 'v1']],
  ['those whose whole name matches', { ...all, delete: 'v' }, []],
  ['those whose name matches', { ...all, delete: 'v.' }, ['v3', 'v2', 'v1']],
  ['either of two', { ...all, delete: 'v1|dev-1' }, ['dev-1', 'v1']],
  ['but those that stay', { ...all, keep: 'dev-.*' }, ['v3', 'v2', 'v1']],
  ['but the newest of those that match', { ...all, delete: 'v.', keepNewest: 2 }, ['v1']],
  ['but what was pushed since', { ...all, before: new Date(7_000) }, ['dev-1', 'v1']],
  ['but the newest, and of the rest the old', { ...all, keepNewest: 4, before: new Date(9_000) }, ['v1']],
  ['nothing by a pattern that is wrong', { ...all, delete: '(' }, []],
  ['nothing where what stays cannot be read', { ...all, keep: '(' }, []],
])('goes: %s', async (_, selection, gone) => {
  const selector = tagSelector(selection, await patternCompiler(), 0);
  expect(tags.filter((tag) => selector.goes(tag)).map(({ name }) => name)).toEqual(gone);
});

test('the newest are counted over several rounds', async () => {
  const selection = { ...all, keepNewest: 3 };
  const compile = await patternCompiler();
  const first = tagSelector(selection, compile, 0);
  expect(tags.slice(0, 3).filter((tag) => first.goes(tag))).toEqual([]);
  const second = tagSelector(selection, compile, first.kept);
  expect(tags.slice(3).filter((tag) => second.goes(tag))).toEqual(tags.slice(4));
});

test.each([
  ['v.*', undefined],
  ['(', 'is not valid RE2 syntax: missing closing ): `(`'],
  ['a)|(b', 'is not valid RE2 syntax: unexpected ): `a)|(b`'],
  ['(?=a)', 'is not valid RE2 syntax: invalid or unsupported Perl syntax: `(?=`'],
  ['(a{100}){100}', 'is not valid RE2 syntax: invalid repeat count: `{100}`'],
  ['((a{1,50}){1,19})', 'is too complex'],
])('%s as a pattern of names: %s', async (pattern, problem) =>
  expect(wholePatternProblem(await patternCompiler(), pattern)).toBe(problem),
);
