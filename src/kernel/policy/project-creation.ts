/** Permission to create projects in a group: the group's setting over the roles. Pure. */
import { DEVELOPER, MAINTAINER, OWNER, type Role } from './roles.ts';

export const projectCreationLevels = ['noone', 'owner', 'maintainer', 'developer', 'administrator'] as const;
export type ProjectCreationLevel = (typeof projectCreationLevels)[number];

const leastRole: Partial<Record<ProjectCreationLevel, Role>> = {
  owner: OWNER,
  maintainer: MAINTAINER,
  developer: DEVELOPER,
};

/** Whether the role is enough under the setting; administrators may unless it is `noone`. */
export function roleMayCreateProjects(level: ProjectCreationLevel, role: Role, admin: boolean): boolean {
  if (level === 'noone') return false;
  if (admin) return true;
  const least = leastRole[level];
  return least !== undefined && role >= least;
}
