/** Starts direct transfers, and records how far they are. */
import { sql } from 'kysely';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { addJobs } from '../../../platform/jobs/jobs.ts';
import { seal } from '../../../platform/secret.ts';
import { QUEUE } from '../exports/actions.ts';
import { longAgo } from '../exports/queries.ts';
import type { RunningEntity } from './queries.ts';
import type { StartInput } from './schema.ts';

export const BULK_ENTITY = 'transfers.bulk_entity';

const stepJob = (id: number, delaySeconds = 0) => ({
  task: BULK_ENTITY,
  payload: { entity_id: id },
  queue: QUEUE,
  key: `${BULK_ENTITY} ${id}`,
  delaySeconds,
});

export type NewEntity = {
  source_type: string;
  source_full_path: string;
  destination_slug: string;
  destination_namespace: string;
  migrate_projects: boolean;
  migrate_memberships: boolean;
  parent_id?: number;
};

export async function insertEntities(
  tx: Db,
  bulkImportId: number,
  entities: readonly NewEntity[],
): Promise<void> {
  if (entities.length === 0) return;
  const time = now();
  const made = await tx
    .insertInto('bulk_import_entities')
    .values(
      entities.map((entity) => ({
        ...entity,
        bulk_import_id: bulkImportId,
        status: 'created',
        step: 'export',
        created_at: time,
        updated_at: time,
      })),
    )
    .returning('id')
    .execute();
  await addJobs(
    tx,
    made.map(({ id }) => stepJob(id)),
  );
}

/** Begins it; the id. */
export const startBulkImport = (
  { database, secretKey }: Needs<'database' | 'secretKey'>,
  actor: Actor,
  { url, access_token }: StartInput['configuration'],
  entities: readonly NewEntity[],
): Promise<number> =>
  inTransaction(database.db, async (tx) => {
    const time = now();
    const { id } = await tx
      .insertInto('bulk_imports')
      .values({
        user_id: actor.id,
        admin_mode: actor.adminMode ?? false,
        source_url: url,
        token_sealed: seal(secretKey, access_token),
        status: 'created',
        created_at: time,
        updated_at: time,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    await insertEntities(tx, id, entities);
    const entity = { type: 'User', id: actor.id, path: actor.username } as const;
    await announce(tx, {
      author: actor,
      audit: { entity, event: 'bulk_import_created', details: { target_details: url } },
    });
    return id;
  });

/** What is fetched already stays; nothing more is. */
export const cancelBulkImport = (db: Db, id: number): Promise<void> =>
  inTransaction(db, async (tx) => {
    const over = { status: 'canceled', updated_at: now() };
    await tx
      .updateTable('bulk_imports')
      .set({ ...over, token_sealed: null })
      .where('id', '=', id)
      .where('status', 'in', ['created', 'started'])
      .execute();
    await tx
      .updateTable('bulk_import_entities')
      .set(over)
      .where('bulk_import_id', '=', id)
      .where('status', 'in', ['created', 'started'])
      .execute();
  });

/** What comes next of an entity, and when it is looked at again. */
export async function nextStep(
  tx: Db,
  { id, bulk_import_id }: RunningEntity,
  changes: {
    step: 'export' | 'wait' | 'import';
    source_etag?: string;
    project_id?: number;
    namespace_id?: number;
  },
  delaySeconds: number,
): Promise<void> {
  const time = now();
  await tx
    .updateTable('bulk_import_entities')
    .set({ ...changes, status: 'started', updated_at: time })
    .where('id', '=', id)
    .execute();
  await tx
    .updateTable('bulk_imports')
    .set({ status: 'started', updated_at: time })
    .where('id', '=', bulk_import_id)
    .where('status', '=', 'created')
    .execute();
  await addJobs(tx, [stepJob(id, delaySeconds)]);
}

/** Ends those whose jobs are given up: the token of the source goes. */
export async function endLostTransfers(db: Db): Promise<void> {
  const before = longAgo();
  const error = 'The server has a fault: see its log.';
  await inTransaction(db, async (tx) => {
    const { rows } = await sql<{ id: number }>`
      select b.id from bulk_imports b where b.status in ('created', 'started') and b.updated_at < ${before}
        and not exists (select from bulk_import_entities e where e.bulk_import_id = b.id
          and e.status in ('created', 'started') and e.updated_at >= ${before}) for update`.execute(tx);
    const ids = rows.map(({ id }) => id);
    await sql`
      update bulk_import_entities set status = 'failed', error = ${error}, updated_at = ${now()}
      where bulk_import_id = any(${ids}::bigint[]) and status in ('created', 'started')`.execute(tx);
    await sql`
      update bulk_imports set status = 'failed', token_sealed = null, updated_at = ${now()}
      where id = any(${ids}::bigint[])`.execute(tx);
  });
}

/** Ends an entity, and with the last one the whole, whose token goes. `more` comes after it. */
export const endEntity = (
  db: Db,
  { id, bulk_import_id }: RunningEntity,
  status: 'finished' | 'failed' | 'timeout',
  error: string | null,
  more: readonly NewEntity[] = [],
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const time = now();
    await tx.selectFrom('bulk_imports').select('id').where('id', '=', bulk_import_id).forUpdate().execute();
    await tx
      .updateTable('bulk_import_entities')
      .set({ status, error, updated_at: time })
      .where('id', '=', id)
      .where('status', 'in', ['created', 'started'])
      .execute();
    await insertEntities(tx, bulk_import_id, more);
    await sql`
      update bulk_imports b set token_sealed = null, updated_at = ${time},
        status = case when exists (select from bulk_import_entities e where e.bulk_import_id = b.id and e.status = 'finished')
          then 'finished' else ${status} end
      where b.id = ${bulk_import_id} and b.status in ('created', 'started') and not exists (
        select from bulk_import_entities e where e.bulk_import_id = b.id and e.status in ('created', 'started'))`.execute(
      tx,
    );
  });
