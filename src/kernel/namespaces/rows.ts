/** Rows of projects and groups: one list of columns each, and their types. */

import type { Selectable } from 'kysely';
import type { NamespacesTable, ProjectsTable } from '../../platform/db/rows.ts';
import type { Level } from './notification-levels.ts';

/** A namespace inside another record. */
export type NamespaceSummary = {
  id: number;
  name: string;
  path: string;
  kind: 'user' | 'group';
  full_path: string;
  parent_id: number | null;
  avatar: string | null;
};

export type OwnerSummary = {
  id: number;
  username: string;
  name: string;
  state: string;
  avatar: string | null;
  public_email: string | null;
  locked: boolean;
  email: string;
};

export type GroupShare = {
  group_id: number;
  group_name: string;
  group_full_path: string;
  group_access_level: number;
  expires_at: string | null;
};

export type ProjectRow = Selectable<ProjectsTable> & {
  namespace_name: string;
  namespace_path: string;
  namespace_kind: 'user' | 'group';
  namespace_full_path: string;
  namespace_full_name: string;
  namespace_parent_id: number | null;
  namespace_avatar: string | null;
  namespace_archived: boolean;
  ancestor_ids: number[];
  owner: OwnerSummary | null;
  shared_with_groups: GroupShare[] | null;
  /** Null before the first issue or milestone. */
  open_issues: number | null;
  open_confidential_issues: number | null;
};

/** A project with the caller's levels on it: its own, and the greatest from groups. */
export type ReachedProjectRow = ProjectRow & {
  level_project: number;
  level_group: number;
  /** What custom roles of the caller add; null, or missing for the program and deploy tokens, without any. */
  custom_abilities?: string[] | null;
  /** The caller's notification levels for it, and for the nearest group with a level of its own. */
  notified_project?: Level | null;
  notified_group?: Level | null;
};

/** Columns of ProjectRow over `projects p join namespaces n`, `users o`, the personal owner, and `project_counters c`. */
export const projectColumns = `
  p.*, c.open_issues, c.open_confidential_issues, n.name as namespace_name, n.path as namespace_path, n.kind as namespace_kind,
  n.full_path as namespace_full_path, n.full_name as namespace_full_name, n.parent_id as namespace_parent_id,
  n.avatar as namespace_avatar, n.ancestor_ids,
  (n.archived or exists (select from namespaces a where a.id = any(n.ancestor_ids) and a.archived)) as namespace_archived,
  case when o.id is not null then jsonb_build_object('id', o.id, 'username', o.username, 'name', o.name,
    'state', o.state, 'avatar', o.avatar, 'public_email', o.public_email, 'locked', o.locked_at is not null,
    'email', o.email) end as owner,
  (select jsonb_agg(jsonb_build_object('group_id', g.id, 'group_name', g.name, 'group_full_path', g.full_path,
    'group_access_level', l.group_access, 'expires_at', l.expires_at) order by l.id)
   from project_group_links l join namespaces g on g.id = l.group_id where l.project_id = p.id) as shared_with_groups`;

/** The from clause that projectColumns reads. */
export const projectTables = `
  projects p join namespaces n on n.id = p.namespace_id left join users o on o.id = n.owner_id
  left join project_counters c on c.project_id = p.id`;

/** A group, or the personal namespace of a user. */
export type NamespaceRow = Selectable<NamespacesTable> & { kind: 'user' | 'group' };

export type GroupRow = NamespaceRow & { kind: 'group' };

/** An object that is archived itself or under an archived group is read-only. */
export const projectIsArchived = (row: Pick<ProjectRow, 'archived' | 'namespace_archived'>): boolean =>
  row.archived || row.namespace_archived;

export const projectFullPath = (row: Pick<ProjectRow, 'namespace_full_path' | 'path'>): string =>
  `${row.namespace_full_path}/${row.path}`;
