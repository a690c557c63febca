/** Finds uploads of blobs, and what has arrived of them. */
import type { Db } from '../../../platform/db/database.ts';
import { dayAgo } from '../images/queries.ts';

export type Chunk = { start: number; size: number; sha256: Buffer; draft: string };
export type UploadRow = { id: string; repository_id: number; size: number; chunks: number };

/** The upload, where this caller began it in this repository within the last day. */
export const selectUpload = (
  db: Db,
  { id, repositoryId, startedBy }: { id: string; repositoryId: number; startedBy: string },
): Promise<UploadRow | undefined> =>
  db
    .selectFrom('container_uploads')
    .select(['id', 'repository_id', 'size', 'chunks'])
    .where('id', '=', id)
    .where('repository_id', '=', repositoryId)
    .where('started_by', '=', startedBy)
    .where('created_at', '>', dayAgo())
    .executeTakeFirst();

/** In their order. */
export const selectChunks = (db: Db, uploadId: string): Promise<Chunk[]> =>
  db
    .selectFrom('container_chunks')
    .select(['start', 'size', 'sha256', 'draft'])
    .where('upload_id', '=', uploadId)
    .orderBy('start')
    .execute();

const BATCH = 100;

/** Some of the uploads that are over. */
export async function selectEnded(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('container_uploads')
    .select('id')
    .where('created_at', '<=', dayAgo())
    .orderBy('created_at')
    .limit(BATCH)
    .execute();
  return rows.map(({ id }) => id);
}

/** Some of the uploads of a repository. */
export async function selectUploadsOf(db: Db, repositoryId: number): Promise<string[]> {
  const rows = await db
    .selectFrom('container_uploads')
    .select('id')
    .where('repository_id', '=', repositoryId)
    .limit(BATCH)
    .execute();
  return rows.map(({ id }) => id);
}
