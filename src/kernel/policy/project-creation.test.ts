/** Roles that create projects under each setting. */
import { expect, test } from 'vitest';
import { projectCreationLevels, roleMayCreateProjects } from './project-creation.ts';
import { DEVELOPER, GUEST, MAINTAINER, OWNER, type Role } from './roles.ts';

const roles: readonly Role[] = [GUEST, DEVELOPER, MAINTAINER, OWNER];

test.each([
  ['noone', [], false],
  ['owner', [OWNER], true],
  ['maintainer', [MAINTAINER, OWNER], true],
  ['developer', [DEVELOPER, MAINTAINER, OWNER], true],
  ['administrator', [], true],
] as const)('%s', (level, allowed, administrators) => {
  expect(roles.filter((role) => roleMayCreateProjects(level, role, false))).toEqual(allowed);
  expect(roleMayCreateProjects(level, GUEST, true)).toBe(administrators);
});

test('there is no other setting', () => {
  expect(projectCreationLevels).toEqual(['noone', 'owner', 'maintainer', 'developer', 'administrator']);
});
