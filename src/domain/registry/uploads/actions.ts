/** Writes uploads of blobs: sessions, and the chunks that have arrived whole. */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { randomId } from '../../../platform/secret.ts';
import { holdRepository, linkBlob } from '../images/actions.ts';
import { RegistryError } from '../refusals/errors.ts';
import { type Chunk, selectChunks, type UploadRow } from './queries.ts';

/** Begins an upload; its id. */
export async function beginUpload(db: Db, repositoryId: number, startedBy: string): Promise<string> {
  const id = randomId();
  await inTransaction(db, async (tx) => {
    await holdRepository(tx, repositoryId);
    await tx
      .insertInto('container_uploads')
      .values({ id, repository_id: repositoryId, started_by: startedBy, created_at: now() })
      .execute();
  });
  return id;
}

/** Adds a chunk at the end; false where the upload is gone, or has another end by now. */
export async function addChunk(
  db: Db,
  { id }: UploadRow,
  { start, size, sha256, draft }: Chunk,
): Promise<boolean> {
  const { rows } = await sql`
    with grown as (
      update container_uploads set size = size + ${size}, chunks = chunks + 1
      where id = ${id} and size = ${start} returning id)
    insert into container_chunks (upload_id, start, size, sha256, draft)
    select id, ${start}, ${size}, ${sha256}, ${draft} from grown returning 1`.execute(db);
  return rows.length > 0;
}

/** Removes the upload; the drafts of its chunks. None where it was gone. */
export const removeUpload = (db: Db, id: string): Promise<Chunk[]> =>
  inTransaction(db, async (tx) => {
    const { rows } = await sql`select from container_uploads where id = ${id} for update`.execute(tx);
    if (rows.length === 0) return [];
    const chunks = await selectChunks(tx, id);
    await tx.deleteFrom('container_uploads').where('id', '=', id).execute();
    return chunks;
  });

/** What a blob is kept from. */
type Arrived = {
  keep(tx: Db): Promise<void>;
  digest: string;
  sha256: Buffer;
  size: number;
};

/** Keeps the blob, and lets the repository serve it; ends the upload by which it came, if it has not changed meanwhile. */
export const finishBlob = (
  db: Db,
  repositoryId: number,
  arrived: Arrived,
  upload?: UploadRow,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    await holdRepository(tx, repositoryId);
    if (upload) {
      const { rows } = await sql`
        delete from container_uploads where id = ${upload.id} and size = ${upload.size} returning 1`.execute(
        tx,
      );
      if (rows.length === 0)
        throw new RegistryError('BLOB_UPLOAD_UNKNOWN', 'this upload was ended or changed by another request');
    }
    await arrived.keep(tx);
    await linkBlob(tx, repositoryId, arrived);
  });
