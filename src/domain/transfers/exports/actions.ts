/** Requests exports, and records what becomes of them. */
import { sql } from 'kysely';
import { type AuditedEntity, announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { addJobs } from '../../../platform/jobs/jobs.ts';
import { seal } from '../../../platform/secret.ts';
import type { Owner } from '../relations/export-queries.ts';
import { type ExportRow, longAgo, oldest } from './queries.ts';

export const EXPORT = 'transfers.export';
export const UPLOAD = 'transfers.upload';
export const EXPORT_MAIL = 'transfers.export_mail';
/**
 * One at a time of all archives is made, read, fetched or sent: a server that takes hours for each byte holds up the other
 * archives, and no other jobs.
 */
export const QUEUE = 'transfers';

/** Where an export is sent to. */
export type Upload = { url: string; method: 'PUT' | 'POST' };
/** The same as it is kept, with whether it was asked for in admin mode. */
export type KeptUpload = Upload & { admin_mode?: true | undefined };

const sealUpload = (secretKey: string, upload: KeptUpload): string => seal(secretKey, JSON.stringify(upload));

/** Begins an export unless one is being made. */
export async function requestExport(
  { database, secretKey }: Needs<'database' | 'secretKey'>,
  actor: Actor,
  owner: Owner,
  entity: AuditedEntity,
  upload: Upload | undefined,
): Promise<void> {
  await inTransaction(database.db, async (tx) => {
    const made = await tx
      .insertInto('exports')
      .values({
        [owner.column]: owner.id,
        user_id: actor.id,
        status: 'queued',
        upload_sealed: upload ? sealUpload(secretKey, { ...upload, admin_mode: actor.adminMode }) : null,
        created_at: now(),
      })
      .onConflict((conflict) => conflict.doNothing())
      .returning('id')
      .executeTakeFirst();
    if (!made) return;
    await addJobs(tx, [{ task: EXPORT, payload: { export_id: made.id }, queue: QUEUE }]);
    const event = owner.column === 'project_id' ? 'project_export_created' : 'group_export_created';
    await announce(tx, { author: actor, audit: { entity, event } });
  });
}

/** The export, which is being made from now on; undefined where it is over, or gone with its project. */
export async function startExport(db: Db, id: number): Promise<ExportRow | undefined> {
  return db
    .updateTable('exports')
    .set({ status: 'started' })
    .where('id', '=', id)
    .where('status', 'in', ['queued', 'started'])
    .returningAll()
    .executeTakeFirst();
}

export type Finished = { filename: string; sha256: Buffer; size: number; keep(tx: Db): Promise<void> };

/** Takes the place of the one before it, whose digest is returned. */
export const finishExport = (db: Db, row: ExportRow, { keep, ...file }: Finished): Promise<Buffer[]> =>
  inTransaction(db, async (tx) => {
    const gone = await removeOver(tx, row);
    await keep(tx);
    const done = await tx
      .updateTable('exports')
      .set({ ...file, status: 'finished', finished_at: now() })
      .where('id', '=', row.id)
      .returning('id')
      .executeTakeFirst();
    if (!done) return gone;
    await addJobs(tx, [
      { task: EXPORT_MAIL, payload: { export_id: row.id } },
      ...(row.upload_sealed === null ? [] : [{ task: UPLOAD, payload: { export_id: row.id }, queue: QUEUE }]),
    ]);
    return gone;
  });

/** Leaves the one before it, if there is one. */
export const failExport = (db: Db, row: ExportRow, error: string): Promise<void> =>
  inTransaction(db, async (tx) => {
    await removeOver(tx, row);
    const failed = { status: 'failed', error, finished_at: now() };
    await tx.updateTable('exports').set(failed).where('id', '=', row.id).execute();
    await addJobs(tx, [{ task: EXPORT_MAIL, payload: { export_id: row.id } }]);
  });

async function removeOver(tx: Db, { project_id, namespace_id }: ExportRow): Promise<Buffer[]> {
  const { rows } = await sql<{ sha256: Buffer | null }>`
    delete from exports where status in ('finished', 'failed')
      and project_id is not distinct from ${project_id} and namespace_id is not distinct from ${namespace_id}
    returning sha256`.execute(tx);
  return rows.flatMap(({ sha256 }) => sha256 ?? []);
}

/** Removes those that are a day old, and those that nobody makes any more; the digests of their files. */
export async function removeOldExports(db: Db): Promise<Buffer[]> {
  const { rows } = await sql<{ sha256: Buffer | null }>`
    delete from exports
    where finished_at < ${oldest()} or created_at < ${longAgo()}
    returning sha256`.execute(db);
  return rows.flatMap(({ sha256 }) => sha256 ?? []);
}
