/** Which custom roles may be made. */
import { expect, test } from 'vitest';
import {
  customAbilities,
  customAbilityNames,
  openersInProject,
} from '../../../kernel/policy/custom-abilities.ts';
import { groupPolicy, projectPolicy, type Rule } from '../../../kernel/policy/policy.ts';
import { requestedAbilities } from './rules.ts';
import { publicNames } from './schema.ts';

const role = { name: 'Role', base_access_level: 10 };

test.each([
  [{ read_code: true }, ['read_code'], undefined],
  [
    { read_code: true, remove_project: true, admin_web_hook: false },
    ['read_code', 'remove_project'],
    undefined,
  ],
  [{}, [], { base: ['At least one ability has to be enabled for the role'] }],
  [{ read_code: false }, [], { base: ['At least one ability has to be enabled for the role'] }],
  [
    { read_code: true, admin_vulnerability: true },
    ['read_code', 'admin_vulnerability'],
    { admin_vulnerability: ['is not supported'] },
  ],
  [{ read_code: true, admin_vulnerability: false }, ['read_code'], undefined],
])('%j asks for %j: %j', (given, abilities, problems) => {
  const requested = requestedAbilities({ ...role, ...given });
  expect([...requested.abilities].sort()).toEqual([...abilities].sort());
  expect(requested.problems).toEqual(problems);
});

test('each name is one of the public API, once', () => {
  expect(new Set(publicNames).size).toBe(publicNames.length);
});

test('no custom role opens what its base role has by looking, or what only administrators do', () => {
  for (const name of customAbilityNames) {
    const { project = [], group = [] } = { project: undefined, group: undefined, ...customAbilities[name] };
    const rules: Rule[] = [
      ...project.map((ability) => projectPolicy[ability]),
      ...group.map((ability) => groupPolicy[ability]),
    ];
    expect(rules.length).toBeGreaterThan(0);
    for (const rule of rules) expect(rule.visible).toBeUndefined();
  }
  expect(openersInProject('read_code')).toEqual(['read_code']);
  expect(openersInProject('update_project')).toEqual([]);
});
