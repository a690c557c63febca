/**
 * Leases on moves. A process that is dead, or that has been taken for dead, changes nothing any more: only
 * the process with the lease changes a move.
 */

import { sql } from 'kysely';
import type { Eraser } from '../../../kernel/namespaces/erasure-actions.ts';
import type { ContainerKind } from '../../../kernel/repository-store.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { DEAD_AFTER_SECONDS } from '../../../platform/db/processes.ts';
import { containerTables } from '../store/containers.ts';
import type { MoveRow, MoveState } from './schedule-actions.ts';

/** Another process has taken the move over, or it is gone with its container. */
export class LeaseLost extends Error {}

/** Whether a process may take a move: no process has it, or a dead one, or this one had and dropped it. */
const isFree = (processId: string, busy: readonly number[]) => sql`
  m.id <> all(${[...busy]}::bigint[])
  and (m.process_id is null or m.process_id = ${processId}::uuid or not exists (
    select from processes p where p.id = m.process_id
      and p.beat_at > clock_timestamp() - make_interval(secs => ${DEAD_AFTER_SECONDS})))`;

/** Whether any move waits to be taken, now or when its process is dead. */
export async function areMovesOpen(db: Db): Promise<boolean> {
  const { rows } = await sql<{ open: boolean }>`
    select exists (select from storage_moves where state in ('scheduled', 'started', 'replicated')) as open`.execute(
    db,
  );
  return rows[0]?.open ?? false;
}

/** Takes the oldest open move that no process has; those in `busy` run here already. */
export async function acquireMove(
  db: Db,
  processId: string,
  busy: readonly number[],
): Promise<MoveRow | undefined> {
  const { rows } = await sql<MoveRow>`
    update storage_moves set process_id = ${processId}
    where id = (
      select m.id from storage_moves m
      where m.state in ('scheduled', 'started', 'replicated') and ${isFree(processId, busy)}
      order by m.id for update skip locked limit 1)
    returning *`.execute(db);
  return rows[0];
}

/** Takes ended moves whose files may still be there: their process is noted until those are gone. */
export async function acquireUntidyMoves(
  db: Db,
  processId: string,
  busy: readonly number[],
): Promise<MoveRow[]> {
  const { rows } = await sql<MoveRow>`
    update storage_moves set process_id = ${processId}
    where id in (
      select m.id from storage_moves m
      where m.state in ('failed', 'cleanup failed', 'finished') and m.process_id is not null and ${isFree(processId, busy)}
      order by m.id for update skip locked limit 100)
    returning *`.execute(db);
  return rows;
}

/**
 * Locks the container's row and then the move's, in a transaction that may then change both and the folders; LeaseLost
 * when the move is no longer this process's, or in none of the states. The storage is undefined without the container.
 */
export async function lockLease(
  tx: Db,
  processId: string,
  move: MoveRow,
  states: readonly MoveState[],
): Promise<{ storage: string | undefined }> {
  const { rows } = await sql<{ storage: string }>`
    select repository_storage as storage from ${sql.table(containerTables[move.container])}
    where id = ${move.container_id} for update`.execute(tx);
  const mine = await tx
    .selectFrom('storage_moves')
    .select('id')
    .where('id', '=', move.id)
    .where('process_id', '=', processId)
    .where('state', 'in', states)
    .forUpdate()
    .executeTakeFirst();
  if (!mine) throw new LeaseLost();
  return { storage: rows[0]?.storage };
}

/** Moves the record to another state; LeaseLost when it is no longer this process's, or not in the state before. */
export async function changeState(
  db: Db,
  processId: string,
  move: MoveRow,
  from: MoveState,
  to: { state: MoveState; error_message?: string },
): Promise<void> {
  const changed = await db
    .updateTable('storage_moves')
    .set({ ...to, updated_at: now() })
    .where('id', '=', move.id)
    .where('process_id', '=', processId)
    .where('state', '=', from)
    .returning('id')
    .executeTakeFirst();
  if (!changed) throw new LeaseLost();
}

/** Changes the container's row. */
export async function changeContainer(
  tx: Db,
  kind: ContainerKind,
  id: number,
  change: { storage?: string },
): Promise<void> {
  const { storage } = change;
  await sql`
    update ${sql.table(containerTables[kind])}
    set repository_read_only = false
      ${storage === undefined ? sql`` : sql`, repository_storage = ${storage}, updated_at = ${now()}`}
    where id = ${id}`.execute(tx);
}

/** An ended move has no files any more; the record of one whose container is gone is deleted. */
export async function markTidy(tx: Db, move: MoveRow, containerIsThere: boolean): Promise<void> {
  const { id } = move;
  if (containerIsThere)
    await tx.updateTable('storage_moves').set({ process_id: null }).where('id', '=', id).execute();
  else await tx.deleteFrom('storage_moves').where('id', '=', id).execute();
}

/** Deletes ended moves whose container is gone: no request can reach them any more. */
export async function forgetGone(db: Db): Promise<void> {
  for (const [kind, table] of Object.entries(containerTables))
    await sql`
      delete from storage_moves m
      where m.container = ${kind} and m.process_id is null
        and m.state not in ('scheduled', 'started', 'replicated')
        and not exists (select from ${sql.table(table)} c where c.id = m.container_id)`.execute(db);
}

/** Whether the container has another open move: its folders are that one's. */
export async function hasOtherMove(tx: Db, move: MoveRow): Promise<boolean> {
  const other = await tx
    .selectFrom('storage_moves')
    .select('id')
    .where('container', '=', move.container)
    .where('container_id', '=', move.container_id)
    .where('id', '<>', move.id)
    .where('state', 'in', ['scheduled', 'started', 'replicated'])
    .executeTakeFirst();
  return other !== undefined;
}

/** Deletes the moves of projects that go, but for those that run. */
export const eraseMoves: Eraser = async (tx, { projectIds }) => {
  await tx
    .deleteFrom('storage_moves')
    .where('container', '=', 'project')
    .where('container_id', '=', sql<number>`any(${[...projectIds]}::bigint[])`)
    .where('process_id', 'is', null)
    .where('state', 'in', ['initial', 'failed', 'cleanup failed', 'finished'])
    .execute();
};

export async function markFailed(tx: Db, move: MoveRow, error_message: string): Promise<void> {
  await tx
    .updateTable('storage_moves')
    .set({ state: 'failed', error_message, updated_at: now() })
    .where('id', '=', move.id)
    .execute();
}
