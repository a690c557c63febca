/** Locks of projects' paths, with who has them. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import type { Lock, LockPage } from './rules.ts';

const columns = sql`l.id, l.path, l.created_at as locked_at, l.user_id, u.name, u.username`;

/** A page, by id: one more than it has, where there are more. */
export async function selectLocks(
  db: Db,
  projectId: number,
  { path, id, cursor, limit }: LockPage & { path?: string | undefined; id?: number | undefined },
): Promise<Lock[]> {
  const { rows } = await sql<Lock>`
    select ${columns} from lfs_locks l join users u on u.id = l.user_id
    where l.project_id = ${projectId} and l.id >= ${cursor}
      and (${path ?? null}::text is null or l.path = ${path ?? null})
      and (${id ?? null}::bigint is null or l.id = ${id ?? null})
    order by l.id limit ${limit + 1}`.execute(db);
  return rows;
}

export async function selectLock(db: Db, projectId: number, id: number): Promise<Lock | undefined> {
  return (await selectLocks(db, projectId, { id, cursor: 0, limit: 1 }))[0];
}

/** Paths that are asked for by one statement. */
const PATHS_AT_ONCE = 10_000;

/** Why the users may not change files of these paths: somebody else has locked one. Undefined where nobody has. */
export async function lockRefusal(
  db: Db,
  projectId: number,
  userIds: readonly number[],
  paths: readonly string[],
): Promise<string | undefined> {
  for (let at = 0; at < paths.length; at += PATHS_AT_ONCE) {
    const { rows } = await sql<{ path: string; username: string }>`
      select l.path, u.username from lfs_locks l join users u on u.id = l.user_id
      where l.project_id = ${projectId} and l.user_id <> all(${userIds}::bigint[])
        and l.path = any(${paths.slice(at, at + PATHS_AT_ONCE)}::text[])
      order by l.path limit 1`.execute(db);
    const [lock] = rows;
    if (lock) return `The path '${lock.path}' is locked in Git LFS by @${lock.username}`;
  }
  return undefined;
}

/** Those that others than the user have locked, or anybody: as many as a project has at most. */
export async function selectPathsOfOthers(
  db: Db,
  projectId: number,
  userId: number | undefined,
): Promise<string[]> {
  const { rows } = await sql<{ path: string }>`
    select path from lfs_locks where project_id = ${projectId} and user_id is distinct from ${userId ?? null}`.execute(
    db,
  );
  return rows.map(({ path }) => path);
}

/** Whether anything is locked. */
export async function hasLocks(points: Sql, projectId: number): Promise<boolean> {
  const rows = await points`select from lfs_locks where project_id = ${projectId} limit 1`;
  return rows.length > 0;
}

export async function countLocks(db: Db, projectId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from lfs_locks where project_id = ${projectId}`.execute(db);
  return rows[0]?.count ?? 0;
}
