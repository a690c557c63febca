/** Permission to create projects in a group: the group's setting over the roles. */
import type { Actor } from '../identity/actor.ts';
import type { AuthorizedGroup } from './find.ts';
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

/** Whether the actor may create projects in the group, which must not be archived. */
export function mayCreateProjects(actor: Actor, group: AuthorizedGroup): boolean {
  // The group's own capability writes the settings, from values of this type.
  const { project_creation_level: level } = group.row.settings as {
    project_creation_level?: ProjectCreationLevel;
  };
  return group.may('create_projects') && roleMayCreateProjects(level ?? 'developer', group.role, actor.admin);
}
