/**
 * A membership source, a project or a group, as one shape. Everything else in this folder is written once,
 * over it.
 */
import { type Access, onGroup, onProject } from '../../../kernel/access/access.ts';
import type { AuthorizedGroup, AuthorizedProject } from '../../../kernel/access/find.ts';
import type { MembershipSource } from '../../../kernel/access/membership-actions.ts';
import type { Actor, Caller } from '../../../kernel/actor.ts';
import type { CallLimit } from '../../../kernel/api/endpoint.ts';
import type { Role } from '../../../kernel/policy/roles.ts';
import type { Json } from '../../../platform/db/rows.ts';

/**
 * A project or a group that the caller is authorized for, as a membership source. Made from a receipt only.
 */
export type Source = MembershipSource & {
  kind: 'project' | 'group';
  /** The groups above it: their members are members here too. */
  ancestorIds: readonly number[];
  /** The groups whose shares with other groups reach here: those above, and the group itself. */
  groupIds: readonly number[];
  /** The top-level group; undefined in a personal namespace. */
  rootGroupId: number | undefined;
  /** The owner of a personal project, who has no membership, since its creation. */
  holder: { id: number; since: Date } | undefined;
  isTopLevelGroup: boolean;
  takesAccessRequests: boolean;
  /** The caller's role here. */
  role: Role;
  mayManage: boolean;
};

/** The two kinds, each with its paths and its abilities. */
export type SourceKind<S> = {
  path: '/projects/:id' | '/groups/:id';
  noun: 'project' | 'group';
  access: {
    read: Access<S, Caller>;
    manage: Access<S, Actor>;
    /** Members may leave, and users may withdraw their requests, whatever their role. */
    leave: Access<S, Actor>;
    request: Access<S, Actor>;
  };
  /** For the list with inherited members. */
  listLimit?: CallLimit;
  view(subject: S): Source;
};

/** Requests are taken unless the owner turned them off. */
const takesRequests = (settings: Json): boolean =>
  typeof settings !== 'object' ||
  settings === null ||
  !('request_access_enabled' in settings) ||
  settings.request_access_enabled !== false;

const projectSource = (project: AuthorizedProject): Source => {
  const { id, row, fullPath, role } = project;
  const personal = row.namespace_kind === 'user';
  return {
    kind: 'project',
    column: 'project_id',
    id,
    entity: { type: 'Project', id, path: fullPath },
    ancestorIds: row.ancestor_ids,
    groupIds: row.ancestor_ids,
    rootGroupId: personal ? undefined : row.ancestor_ids[0],
    holder: personal && row.owner ? { id: row.owner.id, since: row.created_at } : undefined,
    isTopLevelGroup: false,
    takesAccessRequests: takesRequests(row.settings),
    role,
    mayManage: project.may('manage_project_members'),
  };
};

const groupSource = (group: AuthorizedGroup): Source => {
  const { id, row, role } = group;
  return {
    kind: 'group',
    column: 'namespace_id',
    id,
    entity: { type: 'Group', id, path: row.full_path },
    ancestorIds: row.ancestor_ids.filter((each) => each !== id),
    groupIds: row.ancestor_ids,
    rootGroupId: row.ancestor_ids[0],
    holder: undefined,
    isTopLevelGroup: row.parent_id === null,
    takesAccessRequests: takesRequests(row.settings),
    role,
    mayManage: group.may('manage_group_members'),
  };
};

export const projects: SourceKind<AuthorizedProject> = {
  path: '/projects/:id',
  noun: 'project',
  access: {
    read: onProject('read_project_members'),
    manage: onProject('manage_project_members'),
    leave: onProject('leave_project'),
    request: onProject('request_project_access'),
  },
  listLimit: { name: 'project_members_api', setting: 'project_members_api_limit', periodSeconds: 60 },
  view: projectSource,
};

export const groups: SourceKind<AuthorizedGroup> = {
  path: '/groups/:id',
  noun: 'group',
  access: {
    read: onGroup('read_group_members'),
    manage: onGroup('manage_group_members'),
    leave: onGroup('leave_group'),
    request: onGroup('request_group_access'),
  },
  view: groupSource,
};
