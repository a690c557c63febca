/** Resource parents of labels and milestones: a project or a group. */
import type { AuditedEntity } from '../activity/announce-actions.ts';
import type { AuthorizedGroup, AuthorizedProject } from './find.ts';

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

/** The parent in the audit trail. */
export const auditedParent = (parent: ResourceParent): AuditedEntity => ({
  type: isProject(parent) ? 'Project' : 'Group',
  id: parent.id,
  path: parentPath(parent),
});
