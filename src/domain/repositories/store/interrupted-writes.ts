/**
 * Interrupted writes: their process or the database died, and git may have taken a write that the database
 * does not know of. The row in repository_uses stays, and announces the write to the listeners that
 * reconcile.
 */

import { sql } from 'kysely';
import { announceAll } from '../../../kernel/activity/announce.ts';
import type { ContainerKind } from '../../../kernel/repository-store.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { REMOVED_AFTER_SECONDS } from '../../../platform/db/processes.ts';
import { containerTables } from './containers.ts';

export const WRITE_INTERRUPTED = 'repository_write_interrupted';

export type InterruptedWrite = { kind: ContainerKind; id: number; beganAt: Date };

const isKind = (value: unknown): value is ContainerKind =>
  typeof value === 'string' && Object.hasOwn(containerTables, value);

/** Parses the fact's payload in a listener's task. */
export function parseInterruptedWrite({ kind, id, began_at }: Record<string, unknown>): InterruptedWrite {
  if (!isKind(kind)) throw new Error(`no container is a ${kind}`);
  return { kind, id: Number(id), beganAt: new Date(String(began_at)) };
}

/** Announces the writes of dead processes, each once. */
export const announceInterruptedWrites = (db: Db): Promise<void> =>
  inTransaction(db, async (tx) => {
    const { rows } = await sql<InterruptedWrite>`
      delete from repository_uses u using processes p
      where p.id = u.process_id and u.purpose = 'write'
        and p.beat_at < clock_timestamp() - make_interval(secs => ${REMOVED_AFTER_SECONDS})
      returning u.container as kind, u.container_id as id, u.began_at as "beganAt"`.execute(tx);
    await announceAll(
      tx,
      rows.map(({ kind, id, beganAt }) => ({
        author: undefined,
        fact: { name: WRITE_INTERRUPTED, payload: { kind, id, began_at: beganAt.toISOString() } },
      })),
    );
  });
