/** Removes files that have waited too long for the description of their upload. */
import { sql } from 'kysely';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { goOnLater, startTurn } from '../../../platform/jobs/turn.ts';

const DAY_MS = 86_400_000;

/** Files that came before it have waited long enough. */
export const waitingSince = (): Date => new Date(now().getTime() - DAY_MS);

export const REMOVE_WAITING = 'packages.remove_waiting';

/** What waits too long in one project; undefined where nothing does. */
const removeOfOne = (db: Db): Promise<Buffer[] | undefined> =>
  inTransaction(db, async (tx) => {
    const since = waitingSince();
    const { rows } = await sql<{ id: number }>`
      select id from packages p where package_type = 'debian' and version is null
        and exists (select from package_files f where f.package_id = p.id and f.created_at < ${since})
      order by id limit 1 for update`.execute(tx);
    const [row] = rows;
    if (!row) return undefined;
    const removed = await sql<{ sha256: Buffer }>`
      delete from package_files where package_id = ${row.id} and created_at < ${since}
      returning sha256`.execute(tx);
    return removed.rows.map(({ sha256 }) => sha256);
  });

/** One turn; what is left is a job behind those that wait. */
export async function removeWaiting(
  { database, blobs }: Needs<'database' | 'blobs'>,
  turnMs?: number,
): Promise<void> {
  const isOver = startTurn(turnMs);
  for (;;) {
    const removed = await removeOfOne(database.background);
    if (!removed) return;
    await blobs.release(removed);
    if (isOver()) return goOnLater(database.background, REMOVE_WAITING);
  }
}
