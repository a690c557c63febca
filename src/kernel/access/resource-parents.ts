/** Resource parents of labels and milestones: a project or a group; of hooks and CI variables also the instance. */
import type { AuditedEntity } from '../activity/announce-actions.ts';
import type { AuthorizedGroup, AuthorizedInstance, AuthorizedProject } from './find.ts';

/** The parent of a label or milestone. */
export type ResourceParent = AuthorizedProject | AuthorizedGroup;

export const isProject = (parent: ResourceParent): parent is AuthorizedProject => 'fullPath' in parent;

/** A project, if it is one, and its ancestor groups, whose labels and milestones it has, outermost first. */
export type Reach = { projectId?: number; ancestorIds: readonly number[] };

/** The parent and its ancestor groups. */
export const reachOf = (parent: ResourceParent): Reach =>
  isProject(parent)
    ? { projectId: parent.id, ancestorIds: parent.row.ancestor_ids }
    : { ancestorIds: parent.row.ancestor_ids };

/** The column of the parent in a label or milestone. */
export const parentColumns = (parent: ResourceParent): { project_id: number } | { namespace_id: number } =>
  isProject(parent) ? { project_id: parent.id } : { namespace_id: parent.id };

export const parentPath = (parent: ResourceParent): string =>
  isProject(parent) ? parent.fullPath : parent.row.full_path;

/** What a hook or a CI variable belongs to: the instance has no id. */
export type ParentOrInstance = ResourceParent | AuthorizedInstance;

export const parentKinds = ['project', 'group', 'instance'] as const;
export type ParentKind = (typeof parentKinds)[number];

export const isInstance = (parent: ParentOrInstance): parent is AuthorizedInstance => !('id' in parent);

export function parentKind(parent: ParentOrInstance): ParentKind {
  if (isInstance(parent)) return 'instance';
  return isProject(parent) ? 'project' : 'group';
}

/** The parent in the audit trail. */
export function auditedParent(parent: ParentOrInstance): AuditedEntity {
  if (isInstance(parent)) return { type: 'InstanceScope', id: 1, path: 'instance' };
  return { type: isProject(parent) ? 'Project' : 'Group', id: parent.id, path: parentPath(parent) };
}
