/** Locks of projects' paths, with who has them. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
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
