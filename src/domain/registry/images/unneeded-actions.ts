/**
 * Removes manifests that nothing leads to: no tag, no index, and no manifest that they are about. They go when they were found so on
 * two nights that are a day apart: a program that pushes by digest, or moves a tag, has that long.
 */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { dayAgo } from './queries.ts';

const BATCH = 500;

/** Of a manifest `m`. */
const isNeeded = sql`(
  exists (select from container_tags t where t.manifest_id = m.id)
  or exists (select from container_manifest_children c where c.child_id = m.id)
  or exists (select from container_manifests s where s.repository_id = m.repository_id and s.digest = m.subject))`;

/** Notes of one batch since when they are not needed; the last of the batch. */
async function noteBatch(db: Db, after: number): Promise<number | undefined> {
  const { rows } = await sql<{ id: number }>`
    with batch as (select id from container_manifests where id > ${after} order by id limit ${BATCH}),
    noted as (
      update container_manifests m set unneeded_since = case when ${isNeeded} then null else ${now()}::timestamptz end
      from batch b where b.id = m.id and m.created_at < ${dayAgo()} and ${isNeeded} = (m.unneeded_since is not null))
    select id from batch order by id desc limit 1`.execute(db);
  return rows[0]?.id;
}

/** The SHA-256 of the manifest, if it is still not needed. */
const removeOne = (db: Db, id: number): Promise<Buffer | undefined> =>
  inTransaction(db, async (tx) => {
    // Whoever tags or lists it holds its row, and is seen by the next statement.
    await sql`select from container_manifests where id = ${id} for update`.execute(tx);
    const { rows } = await sql<{ sha256: Buffer }>`
      delete from container_manifests m where id = ${id} and unneeded_since < ${dayAgo()} and not ${isNeeded}
      returning sha256`.execute(tx);
    return rows[0]?.sha256;
  });

/** The SHA-256 of those that went, a batch at a time. */
export async function* removeUnneeded(db: Db): AsyncGenerator<Buffer[]> {
  for (let last: number | undefined = 0; last !== undefined; ) last = await noteBatch(db, last);
  for (let after = 0; ; ) {
    const { rows } = await sql<{ id: number }>`
      select id from container_manifests where unneeded_since < ${dayAgo()} and id > ${after}
      order by id limit ${BATCH}`.execute(db);
    const gone: Buffer[] = [];
    for (const { id } of rows) {
      const sha256 = await removeOne(db, id);
      if (sha256) gone.push(sha256);
    }
    yield gone;
    const last = rows.at(-1);
    if (!last) return;
    after = last.id;
  }
}
