/** A text in the archive of a job, as configuration files are read. */
import { text } from 'node:stream/consumers';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Needs } from '../../../kernel/services.ts';
import { Failure } from '../../../platform/failure.ts';
import { malformed, openArchived } from './archive.ts';
import { selectArchive } from './queries.ts';

/** Bytes; what is longer is no text to be read at once. */
const MAX_TEXT_BYTES = 2 * 1_048_576;

/** Undefined without such a file, and for an archive or a file that cannot be read. */
export async function readArchivedText(
  { blobs, database, settings }: Needs<'blobs' | 'database' | 'settings'>,
  project: Pick<AuthorizedProject, 'id'>,
  jobId: number,
  path: string,
): Promise<string | undefined> {
  const { keep_latest_artifact } = await settings.read();
  const archive = await selectArchive(database.db, project, jobId, keep_latest_artifact);
  if (!archive) return undefined;
  try {
    const { size, stream } = await openArchived(await blobs.open(archive.sha256), path);
    if (size <= MAX_TEXT_BYTES)
      return await text(stream).catch((error: unknown) => Promise.reject(malformed(error)));
    stream.destroy();
    return undefined;
  } catch (error) {
    if (error instanceof Failure && error.kind !== 'unavailable') return undefined;
    throw error;
  }
}
