/** Cases of rules. */
import { expect, test } from 'vitest';
import { patternCompiler } from '../../../platform/patterns/pattern.ts';
import { belowProject, neededInRepository, tagGuard } from './rules.ts';

test.each([
  ['group/house', ''],
  ['group/house*', '*'],
  ['Group/House/web', '/web'],
  ['group/house/*-dev', '/*-dev'],
  ['group/household', undefined],
  ['group', undefined],
  ['group/house/we\0b', undefined],
  ['group/house/web:v1', undefined],
  ['*', undefined],
  ['other/house/web', undefined],
])('%s is %s below group/House', (pattern, rest) => expect(belowProject(pattern, 'group/House')).toBe(rest));

const rules = [
  { below_project: '/web*', push_level: 40, delete_level: null },
  { below_project: '/web/api', push_level: 50, delete_level: 60 },
  { below_project: '', push_level: null, delete_level: 50 },
];
test.each([
  ['', 'push_level', 0],
  ['', 'delete_level', 50],
  ['web', 'push_level', 40],
  ['web', 'delete_level', 0],
  ['web/api', 'push_level', 50],
  ['web/api', 'delete_level', 60],
  ['other', 'push_level', 0],
] as const)('image "%s" needs for %s %i', (name, column, level) =>
  expect(neededInRepository(rules, name, column)).toBe(level),
);

const tagRules = [
  { tag_name_pattern: '^v\\d', push_level: 40, delete_level: 50 },
  { tag_name_pattern: 'release', push_level: null, delete_level: null },
];
test.each([
  ['v1', 30, '^v\\d', '^v\\d'],
  ['v1', 40, undefined, '^v\\d'],
  ['v1', 60, undefined, undefined],
  ['dev-v1', 30, undefined, undefined],
  ['my-release', 60, undefined, 'release'],
  ['my-release', 0, undefined, 'release'],
  ['other', 0, undefined, undefined],
])('tag %s at level %i: pushes are refused by %s, deletions by %s', async (tag, level, push, remove) => {
  const guard = tagGuard(tagRules, level, await patternCompiler());
  expect([guard.pushRefusedBy(tag), guard.deleteRefusedBy(tag)]).toEqual([push, remove]);
  expect(guard.isImmutable(tag)).toBe(tag.includes('release'));
});

test('a pattern that cannot be read keeps everything', async () => {
  const guard = tagGuard(
    [{ tag_name_pattern: '(', push_level: 40, delete_level: 40 }],
    30,
    await patternCompiler(),
  );
  expect([guard.pushRefusedBy('x'), guard.deleteRefusedBy('x')]).toEqual(['(', '(']);
});
