/** Announces the writes that were interrupted. */

import { sql } from 'kysely';
import { announceAll } from '../../../kernel/activity/announce-actions.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { REMOVED_AFTER_SECONDS } from '../../../platform/db/processes.ts';
import { type InterruptedWrite, WRITE_INTERRUPTED } from './interrupted-writes.ts';

/** Announces the writes of dead processes, each once. */
export const announceInterruptedWrites = (db: Db): Promise<void> =>
  inTransaction(db, async (tx) => {
    const { rows } = await sql<InterruptedWrite>`
      delete from repository_uses u using processes p
      where p.id = u.process_id and u.purpose = 'write'
        and p.beat_at < clock_timestamp() - make_interval(secs => ${REMOVED_AFTER_SECONDS})
      returning u.container as kind, u.container_id as id, u.began_at as "beganAt", u.pushed`.execute(tx);
    await announceAll(
      tx,
      rows.map(({ kind, id, beganAt, pushed }) => ({
        fact: { name: WRITE_INTERRUPTED, payload: { kind, id, began_at: beganAt.toISOString(), pushed } },
      })),
    );
  });
