/** Locks of paths in the projects of merge requests, and which of these they may hold up. */
import { type RawBuilder, sql } from 'kysely';

/** An open one in a project in which others than its author have locked paths: between these commits it changes files. */
export type LockableMerge = {
  id: number;
  project_id: number;
  author_id: number;
  repository_storage: string;
  base_sha: string;
  head_sha: string;
};

const isLockable = sql`exists (
  select from lfs_locks l where l.project_id = m.project_id and l.user_id <> m.author_id)`;

/** Of merge requests with these ids. */
export const selectLockable = (ids: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select m.id, m.project_id, m.author_id, p.repository_storage, v.base_sha, v.head_sha
  from merge_requests m join projects p on p.id = m.project_id
  cross join lateral (
    select base_sha, head_sha from merge_request_versions where merge_request_id = m.id order by id desc limit 1) v
  where m.id = any(${ids}) and ${isLockable}`;

export type LockOfProject = { project_id: number; user_id: number; path: string };

/** All locks of their projects. */
export const selectLocksOver = (ids: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select project_id, user_id, path from lfs_locks
  where project_id in (select m.project_id from merge_requests m where m.id = any(${ids}) and ${isLockable})`;
