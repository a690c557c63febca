/** Defaults of a fork without values of its own. */
import { expect, test } from 'vitest';
import { defaultProjectSettings } from '../../../../kernel/namespaces/project-settings.ts';
import { forkVisibility, inheritedSettings } from './rules.ts';

test.each<[number, number | undefined, string[], string]>([
  [20, undefined, [], 'public'],
  [10, undefined, [], 'internal'],
  [0, 20, [], 'private'],
  [20, 10, [], 'internal'],
  [20, 0, [], 'private'],
  [20, undefined, ['public'], 'internal'],
  [20, 20, ['public', 'internal'], 'private'],
  [10, 20, ['internal'], 'private'],
])('of %i in a group of %s without %j: %s', (source, group, restricted, expected) => {
  expect(forkVisibility({ source, group, restricted })).toBe(expected);
});

test('hides what its source hides, and is otherwise its own', () => {
  const source = {
    ...defaultProjectSettings,
    repository_access_level: 'private',
    merge_method: 'ff',
  } as const;
  const inherited = inheritedSettings(source);
  expect(inherited.repository_access_level).toBe('private');
  expect(inherited).not.toHaveProperty('merge_method');
});
