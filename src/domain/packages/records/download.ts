/** Sends a file of a package, and notes that it was fetched. */
import type { Readable } from 'node:stream';
import { replyWithBlob } from '../../../kernel/api/blob-reply.ts';
import type { Reply } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { HttpRequest } from '../../../platform/http/messages.ts';
import { noteDownload } from './download-actions.ts';
import type { FetchedFile } from './queries.ts';

/** Notes that somebody fetches the content, and does not only ask about it; a failure is logged. */
export async function noteFetch(
  { db, services, request }: { db: Db; services: Needs<'log'>; request: HttpRequest },
  file: Parameters<typeof noteDownload>[1],
): Promise<void> {
  if (request.method === 'GET')
    await noteDownload(db, file).catch((error) => services.log.error('a download was not noted', error));
}

/** Saved under the name that is given, or the last part of its own: those of some formats are paths. */
export async function replyWithFile(
  { db, services, request }: { db: Db; services: Needs<'blobs' | 'log'>; request: HttpRequest },
  file: FetchedFile,
  { name, contentType }: { name?: string; contentType?: string } = {},
): Promise<Reply<Readable>> {
  await noteFetch({ db, services, request }, file);
  return replyWithBlob(services, request, {
    sha256: file.sha256,
    name: name ?? file.file_name.slice(file.file_name.lastIndexOf('/') + 1),
    ...(contentType !== undefined && { contentType }),
  });
}
