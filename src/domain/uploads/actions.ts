/** Storing and removing uploaded files. */
import type { Selectable } from 'kysely';
import type { AuthorizedGroup, AuthorizedProject } from '../../kernel/access/find.ts';
import { type AuditedEntity, announce } from '../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../kernel/actor.ts';
import { withReceivedFile } from '../../kernel/files/received-file.ts';
import type { Needs } from '../../kernel/services.ts';
import type { ApplicationSettings } from '../../kernel/settings/definitions.ts';
import { now } from '../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../platform/db/database.ts';
import type { UploadsTable } from '../../platform/db/rows.ts';
import { notFound } from '../../platform/failure.ts';
import type { HttpRequest } from '../../platform/http/messages.ts';
import { randomHex } from '../../platform/secret.ts';

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

const MEBIBYTE = 1_048_576;

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
    services: Needs<'blobs' | 'database'>;
    settings: ApplicationSettings;
    actor: Actor;
    request: HttpRequest;
  },
  home: Home,
): Promise<UploadRow> {
  const { services, settings, actor, request } = context;
  const maximum = settings.max_attachment_size * MEBIBYTE;
  return withReceivedFile({ services, request }, { maximum }, ({ draft, filename, size, sha256 }) =>
    inTransaction(services.database.db, async (tx) => {
      await holdHome(tx, home);
      await draft.keep(tx);
      const upload = await tx
        .insertInto('uploads')
        .values({
          [home.column]: home.id,
          uploader_id: actor.id,
          secret: randomHex(16),
          filename,
          size,
          sha256,
          created_at: now(),
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      await announce(tx, { author: actor, audit: auditOf(home, upload, 'upload_created') });
      return upload;
    }),
  );
}

const auditOf = ({ entity }: Home, { id, filename }: UploadRow, event: string) => ({
  entity,
  event,
  details: { target_id: id, target_type: 'Upload', target_details: filename },
});

/** Removes the upload, and its bytes where nothing else names them. */
export async function removeUpload(
  { blobs, database }: Needs<'blobs' | 'database'>,
  actor: Actor,
  home: Home,
  { id }: UploadRow,
): Promise<void> {
  const { sha256 } = await inTransaction(database.db, async (tx) => {
    const upload = await tx.deleteFrom('uploads').where('id', '=', id).returningAll().executeTakeFirst();
    if (!upload) throw notFound();
    await announce(tx, { author: actor, audit: auditOf(home, upload, 'upload_destroyed') });
    return upload;
  });
  if (sha256) await blobs.release([sha256]);
}

/** Makes the files of a deleted user the ghost's. */
export async function reassignUploads(tx: Db, userId: number, ghostId: number): Promise<void> {
  await ahead(tx)
    .updateTable('uploads')
    .set({ uploader_id: ghostId })
    .where('uploader_id', '=', userId)
    .execute();
}
