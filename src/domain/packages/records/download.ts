/** Sends a file of a package, and notes that it was fetched. */
import type { Readable } from 'node:stream';
import { replyWithBlob } from '../../../kernel/api/blob-reply.ts';
import type { Reply } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { HttpRequest } from '../../../platform/http/messages.ts';
import { noteDownload } from './download-actions.ts';
import type { FetchedFile } from './queries.ts';

/** Statuses of downloads, beside 200. */
export const downloadStatuses = [206, 304, 416] as const;

/** Named as its last part: the names of some formats are paths. */
export async function replyWithFile(
  { db, services, request }: { db: Db; services: Needs<'blobs'>; request: HttpRequest },
  file: FetchedFile,
  contentType?: string,
): Promise<Reply<Readable>> {
  const name = file.file_name.slice(file.file_name.lastIndexOf('/') + 1);
  const reply = await replyWithBlob(services, request, {
    sha256: file.sha256,
    name,
    ...(contentType !== undefined && { contentType }),
  });
  await noteDownload(db, file);
  return reply;
}
