/** Records repositories and the uses of them, which are leases. */
import type { Purpose, PushIntent, RepositoryKey } from '../../../kernel/repository-store.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import { insertFacts } from '../../../platform/outbox/outbox.ts';
import { containerTables } from './containers.ts';
import { WRITE_INTERRUPTED } from './interrupted-writes.ts';

/** A use of the repository by this process. */
export type Use = {
  id: number;
  storage: string;
  key: RepositoryKey;
  processId: string;
  /** How often the repository was written; null for one that is not recorded. */
  writes: number | null;
};

/**
 * Makes the statement's commit asynchronous. The lease is confirmed before its work is done; where the
 * database has lost it, confirmUse() finds none.
 */
const unsynced = (sql: Sql) => sql`(select set_config('synchronous_commit', 'off', true) offset 0) unsynced`;

/** The name of the fact until when no write of any repository begins: a backup is taking its cut, and waits for those that go on. */
export const WRITES_WAIT_UNTIL = 'writes_wait_until';

/** Records a use; undefined without the container, for a write while all wait, and, but for reads, while it is read-only. */
export async function insertUse(
  sql: Sql,
  processId: string,
  key: RepositoryKey,
  purpose: Purpose,
  pushed: PushIntent | undefined,
): Promise<Use | undefined> {
  const { kind, id, wiki } = key;
  const intent = pushed ? JSON.stringify(pushed) : null;
  // A move makes the row read-only and then checks for writers: the lock on the row serializes the two.
  const lock = purpose === 'read' ? sql`` : sql`for share of c`;
  const mayBegin = purpose === 'write' ? sql`and not ${areWaiting(sql)}` : sql``;
  const [held] = await sql<Pick<Use, 'id' | 'storage' | 'writes'>[]>`
    with container as (
      select c.id, c.repository_storage from ${unsynced(sql)} cross join ${sql(containerTables[kind])} c
      where c.id = ${id} ${purpose === 'read' ? sql`` : sql`and not c.repository_read_only`} ${mayBegin} ${lock})
    insert into repository_uses (process_id, container, container_id, storage, purpose, pushed, began_at)
    select ${processId}::uuid, ${kind}::text, id, repository_storage, ${purpose}::text, ${intent}::text::jsonb, clock_timestamp()
    from container
    returning id, storage, (select r.writes from repositories r
      where r.container = ${kind} and r.container_id = ${id} and r.wiki = ${wiki}) as writes`;
  return held && { ...held, key, processId };
}

const areWaiting = (sql: Sql) => sql`exists (
  select from instance_facts where name = ${WRITES_WAIT_UNTIL}::text and (value #>> '{}')::timestamptz > clock_timestamp())`;

export async function mustWritesWait(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ waiting: boolean }[]>`select ${areWaiting(sql)} as waiting`;
  return row?.waiting ?? false;
}

/** Keeps with the use what it is about to push, as a request: its rows come with its end, which a backup waits for. */
export async function recordIntent(sql: Sql, { id, processId }: Use, pushed: PushIntent): Promise<void> {
  await sql`
    update repository_uses set pushed = ${JSON.stringify({ ...pushed, request: true })}::text::jsonb from ${unsynced(sql)}
    where id = ${id} and process_id = ${processId}`;
}

/** Whether the use is still recorded, and the container in the same storage. */
export async function confirmUse(sql: Sql, { id, storage, key, processId }: Use): Promise<boolean> {
  const [still] = await sql`
    select u.id from ${unsynced(sql)} cross join ${sql(containerTables[key.kind])} c
    join repository_uses u on u.id = ${id} and u.process_id = ${processId}
    where c.id = ${key.id} and c.repository_storage = ${storage} for share of c`;
  return still !== undefined;
}

/** Ends a use that is valid, as confirmUse() finds it; false for another. */
export async function endUse(sql: Sql, { id, storage, key, processId }: Use): Promise<boolean> {
  const [ended] = await sql`
    with container as (
      select c.id from ${sql(containerTables[key.kind])} c
      where c.id = ${key.id} and c.repository_storage = ${storage} for share of c)
    delete from repository_uses u using container where u.id = ${id} and u.process_id = ${processId} returning u.id`;
  return ended !== undefined;
}

/** Ends the use; announces it as an interrupted write if it was cut off. */
export async function deleteUse(sql: Sql, { id, processId }: Use, cutOff: boolean): Promise<void> {
  const mine = sql`id = ${id} and process_id = ${processId}`;
  await (cutOff
    ? sql`
      with gone as (delete from repository_uses where ${mine} returning *)
      ${sql.unsafe(insertFacts(''))} select ${WRITE_INTERRUPTED}, jsonb_build_object('kind', container, 'id', container_id, 'began_at', began_at, 'pushed', pushed),
        clock_timestamp()
      from gone`
    : sql`delete from repository_uses where ${mine}`);
}

export async function insertRepository(sql: Sql, { kind, id, wiki }: RepositoryKey): Promise<void> {
  await sql`
    insert into repositories (container, container_id, wiki, created_at)
    values (${kind}, ${id}, ${wiki}, clock_timestamp()) on conflict do nothing`;
}
