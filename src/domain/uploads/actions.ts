/** Storing and removing uploaded files: the row in one transaction with its facts, the file before and after. */
import { unlink } from 'node:fs/promises';
import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import type { AuthorizedGroup, AuthorizedProject } from '../../kernel/access/find.ts';
import { type AuditedEntity, announce, announceAll } from '../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../kernel/actor.ts';
import { oldFiles, removeFiles, storeFile } from '../../kernel/files/stored-files.ts';
import { cleanName } from '../../kernel/files/upload-names.ts';
import type { Eraser } from '../../kernel/namespaces/erasure-actions.ts';
import type { Needs } from '../../kernel/services.ts';
import type { ApplicationSettings } from '../../kernel/settings/definitions.ts';
import { now } from '../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../platform/db/database.ts';
import type { UploadsTable } from '../../platform/db/rows.ts';
import { Failure, notFound } from '../../platform/failure.ts';
import type { HttpRequest } from '../../platform/http/messages.ts';
import type { Fact } from '../../platform/outbox/outbox.ts';
import { randomHex } from '../../platform/secret.ts';
import { uploadsFolder } from './upload-paths.ts';

export type UploadRow = Selectable<UploadsTable>;

/** The project or group of uploads, with its column and its audited entity. */
export type Home = {
  column: 'project_id' | 'namespace_id';
  id: number;
  entity: AuditedEntity;
  /** Path of its files, from the root. */
  path: string;
};

export const projectHome = ({ id, fullPath }: AuthorizedProject): Home => ({
  column: 'project_id',
  id,
  entity: { type: 'Project', id, path: fullPath },
  path: `/-/project/${id}`,
});

export const groupHome = ({ id, row }: AuthorizedGroup): Home => ({
  column: 'namespace_id',
  id,
  entity: { type: 'Group', id, path: row.full_path },
  path: `/-/group/${id}`,
});

/** The fact of removed rows: `secrets` of files that must not be served any more. */
export const FILES_GONE = 'upload_files_gone';
const FILES_IN_A_FACT = 1_000;

const MEBIBYTE = 1_048_576;

const missing = (): Failure =>
  new Failure('bad_request', '400 Bad request - "file" not given', { error: 'file is missing' });

/** Locks the project or group against removal; 404 when it was removed during the upload, which may take long. */
async function holdHome(tx: Db, { column, id }: Home): Promise<void> {
  const held = await tx
    .selectFrom(column === 'project_id' ? 'projects' : 'namespaces')
    .select('id')
    .where('id', '=', id)
    .where('deleting', '=', false)
    .forKeyShare()
    .executeTakeFirst();
  if (!held) throw notFound();
}

/** The new upload. 400 without a file, 413 for one beyond max_attachment_size. */
export async function keepUpload(
  context: {
    services: Needs<'config' | 'database'>;
    settings: ApplicationSettings;
    actor: Actor;
    request: HttpRequest;
  },
  home: Home,
): Promise<UploadRow> {
  const { services, settings, actor, request } = context;
  const folder = uploadsFolder(services.config.data);
  const secret = randomHex(16);
  const received = await storeFile(folder, secret, {
    stream: request.bodyStream,
    headers: request.headers,
    maximum: settings.max_attachment_size * MEBIBYTE,
  });
  if (!received) throw missing();
  try {
    return await inTransaction(services.database.db, async (tx) => {
      await holdHome(tx, home);
      const upload = await tx
        .insertInto('uploads')
        .values({
          [home.column]: home.id,
          uploader_id: actor.id,
          secret,
          filename: cleanName(received.filename),
          size: received.size,
          created_at: now(),
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      await announce(tx, { author: actor, audit: auditOf(home, upload, 'upload_created') });
      return upload;
    });
  } catch (error) {
    await removeFiles(folder, [secret]).catch(() => undefined);
    throw error;
  }
}

const auditOf = ({ entity }: Home, { id, filename }: UploadRow, event: string) => ({
  entity,
  event,
  details: { target_id: id, target_type: 'Upload', target_details: filename },
});

/** Removes the upload; it is not served from now on, and its file is removed soon after. */
export const removeUpload = (db: Db, actor: Actor, home: Home, { id }: UploadRow): Promise<void> =>
  inTransaction(db, async (tx) => {
    const upload = await tx.deleteFrom('uploads').where('id', '=', id).returningAll().executeTakeFirst();
    if (!upload) throw notFound();
    const [fact] = factsOf([upload.secret]);
    await announce(tx, {
      author: actor,
      audit: auditOf(home, upload, 'upload_destroyed'),
      ...(fact && { fact }),
    });
  });

function factsOf(secrets: readonly string[]): Fact[] {
  const facts: Fact[] = [];
  for (let start = 0; start < secrets.length; start += FILES_IN_A_FACT) {
    facts.push({ name: FILES_GONE, payload: { secrets: secrets.slice(start, start + FILES_IN_A_FACT) } });
  }
  return facts;
}

/** Removes the uploads of the projects. */
export const eraseUploads: Eraser = async (tx, { projectIds }) => {
  const gone = await tx
    .deleteFrom('uploads')
    .where('project_id', '=', sql<number>`any(${[...projectIds]}::bigint[])`)
    .returning('secret')
    .execute();
  const facts = factsOf(gone.map(({ secret }) => secret));
  await announceAll(
    tx,
    facts.map((fact) => ({ fact })),
  );
};

/** Removes the files that a fact names. */
export async function forgetFiles(
  services: Needs<'config'>,
  { secrets }: Record<string, unknown>,
): Promise<void> {
  if (!Array.isArray(secrets)) return;
  await removeFiles(
    uploadsFolder(services.config.data),
    secrets.filter((secret) => typeof secret === 'string'),
  );
}

const DAY = 86_400_000;

/** Removes files without a row: of groups that are gone, and of interrupted uploads. Young ones may get a row yet. */
export async function sweepFiles({
  database,
  config,
  log,
}: Needs<'config' | 'database' | 'log'>): Promise<void> {
  for await (const batch of oldFiles(uploadsFolder(config.data), new Date(now().getTime() - DAY))) {
    const secrets = batch.map(({ secret }) => secret);
    const { rows } = await sql<{ secret: string }>`
      select secret from uploads where secret = any(${secrets}::text[])`.execute(database.background);
    const known = new Set(rows.map(({ secret }) => secret));
    for (const { path } of batch.filter(({ secret }) => !known.has(secret))) {
      await unlink(path).catch((error: unknown) => log.error('a file could not be removed', error, { path }));
    }
  }
}

/** Makes the files of a deleted user the ghost's. */
export async function reassignUploads(tx: Db, userId: number, ghostId: number): Promise<void> {
  await ahead(tx)
    .updateTable('uploads')
    .set({ uploader_id: ghostId })
    .where('uploader_id', '=', userId)
    .execute();
}
