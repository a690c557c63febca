/** Locks paths, and unlocks them. */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { Failure, notFound } from '../../../platform/failure.ts';
import { countLocks, selectLock, selectLocks } from './queries.ts';
import { type Lock, MAX_LOCKS, tooManyLocks, unlockRefusal } from './rules.ts';

/** The new lock, or the one that the path has already. */
export const lockPath = (
  db: Db,
  projectId: number,
  userId: number,
  path: string,
): Promise<{ lock: Lock; isNew: boolean }> =>
  inTransaction(db, async (tx) => {
    const project = await sql`
      select from projects where id = ${projectId} and not deleting for key share`.execute(tx);
    if (project.rows.length === 0) throw notFound('Project');
    const { rows } = await sql`
      insert into lfs_locks (project_id, path, user_id, created_at)
      select ${projectId}, ${path}, ${userId}, ${now()}
      where (select count(*) from lfs_locks where project_id = ${projectId}) < ${MAX_LOCKS}
      on conflict do nothing returning 1`.execute(tx);
    const [lock] = await selectLocks(tx, projectId, { path, cursor: 0, limit: 1 });
    if (!lock && (await countLocks(tx, projectId)) >= MAX_LOCKS) throw tooManyLocks();
    // It was unlocked at this moment.
    if (!lock) throw new Failure('conflict', 'The path is being unlocked. Try again.');
    return { lock, isNew: rows.length > 0 };
  });

/** Removes the lock; 404 without it, 403 where it is another user's and the wish does not do. */
export const unlockPath = (
  db: Db,
  projectId: number,
  id: number,
  wish: { userId: number; force: boolean; mayForce: boolean },
): Promise<Lock> =>
  inTransaction(db, async (tx) => {
    await sql`select from lfs_locks where id = ${id} and project_id = ${projectId} for update`.execute(tx);
    const lock = await selectLock(tx, projectId, id);
    if (!lock) throw new Failure('not_found', 'Lock not found');
    const refusal = unlockRefusal(lock, wish);
    if (refusal !== undefined) throw new Failure('forbidden', refusal);
    await tx.deleteFrom('lfs_locks').where('id', '=', id).execute();
    return lock;
  });
