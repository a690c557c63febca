/** Decisions about groups, as pure functions: who may create them, their names, their visibility. */

import type { SubgroupCreationLevel } from '../../../kernel/namespaces/group-settings.ts';
import {
  MAINTAINER,
  OWNER,
  type Role,
  type VisibilityName,
  visibilityLevel,
  visibilityNames,
} from '../../../kernel/policy/roles.ts';

/** Whether the user may create a group without a parent. */
export function mayCreateTopLevelGroup(
  creator: { admin: boolean; external: boolean; kind: string; can_create_group: boolean },
  allowed: boolean,
): boolean {
  if (creator.admin) return true;
  return allowed && creator.can_create_group && !creator.external && creator.kind === 'human';
}

/** The least role that may create a group inside one with this setting. */
export const leastToCreateSubgroups = (level: SubgroupCreationLevel): Role =>
  level === 'owner' ? OWNER : MAINTAINER;

const NAME = /^[\p{L}\p{N}\p{Extended_Pictographic}_](?:[\p{L}\p{N}\p{M}\p{Pd}\p{Emoji}_()+. ]|\u200d)*$/u;

/** The pattern of the schema, in classes that every program knows: those have none for emoji. */
export const namePattern = '^[\\p{L}\\p{N}_][\\p{L}\\p{N}\\p{M}_()+. -]*$';

/** All problems of a name, as messages of its property. */
export function nameProblems(name: string): string[] {
  if (name.trim() === '') return ["can't be blank"];
  if (NAME.test(name)) return [];
  return [
    "can contain only letters, digits, emoji, '_', '.', '+', dash, parenthesis and space. It must start with letter, digit, emoji, or '_'.",
  ];
}

/** The bounds of a visibility. */
export type VisibilityBounds = {
  /** Of the parent, for a group that has one. */
  parent: number | undefined;
  /** The greatest inside the group: no content may be more visible than its group. */
  inside: { groups: number; projects: number };
  restricted: readonly VisibilityName[];
  admin: boolean;
};

export const nothingInside = { groups: 0, projects: 0 };

/** All problems of the requested visibility (facts: Cross-cutting behaviour, Visibility). */
export function visibilityProblems(requested: VisibilityName, bounds: VisibilityBounds): string[] {
  const { parent, inside, restricted, admin } = bounds;
  const level = visibilityLevel(requested);
  const problems: string[] = [];
  if (!admin && restricted.includes(requested)) {
    problems.push(`${requested} has been restricted by your GitLab administrator`);
  }
  if (parent !== undefined && level > parent) {
    problems.push(`${requested} is not allowed since the parent group has a lower visibility.`);
  }
  if (inside.projects > level) {
    problems.push(`${requested} is not allowed since this group contains projects with higher visibility.`);
  }
  if (inside.groups > level) {
    problems.push(`${requested} is not allowed since there are sub-groups with higher visibility.`);
  }
  return problems;
}

/** The visibility of a new group whose request names none: the default, as far as its bounds allow. */
export function initialVisibility(
  fallback: VisibilityName,
  bounds: Pick<VisibilityBounds, 'parent' | 'restricted' | 'admin'>,
): VisibilityName {
  const admitted = visibilityNames.filter(
    (name) =>
      visibilityLevel(name) <= visibilityLevel(fallback) &&
      visibilityLevel(name) <= (bounds.parent ?? visibilityLevel(fallback)) &&
      (bounds.admin || !bounds.restricted.includes(name)),
  );
  return admitted.at(-1) ?? 'private';
}

/** The reason why a group cannot be removed for good now, or undefined (facts: Delayed deletion). */
export function removalProblem(
  group: { parent_id: number | null; marked_for_deletion_on: string | null; full_path: string },
  fullPath: string | undefined,
): string | undefined {
  if (group.parent_id === null) return '`permanently_remove` option is only available for subgroups.';
  if (group.marked_for_deletion_on === null) return 'Group must be marked for deletion first.';
  if (fullPath === group.full_path) return undefined;
  return '`full_path` is incorrect. You must enter the complete path for the subgroup.';
}

/** The numbers that the instance's setting has for the creators of projects (facts: Application settings). */
export const projectCreationNames = ['noone', 'maintainer', 'developer', 'administrator', 'owner'] as const;
