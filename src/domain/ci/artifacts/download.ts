/** Archives, and files in them, as responses that no browser runs. */
import { extname, posix } from 'node:path';
import { Readable } from 'node:stream';
import { replyWithBlob } from '../../../kernel/api/blob-reply.ts';
import { bytesOf, Reply } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import { badRequest } from '../../../platform/failure.ts';
import { dispositionHeader } from '../../../platform/http/disposition.ts';
import { etagOf } from '../../../platform/http/etag.ts';
import type { HttpRequest } from '../../../platform/http/messages.ts';
import { openArchived } from './archive.ts';
import type { ArtifactRow } from './queries.ts';
import { isArchivePath } from './rules.ts';

const BYTES = 'application/octet-stream';
/** As of whole artifacts. */
const harmless = {
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'private, max-age=0, must-revalidate',
};

const formats: Readonly<Record<string, string>> = { zip: 'application/zip', gzip: 'application/gzip' };

/** 404 where its file is gone. */
export const replyWithArtifact = (
  services: Needs<'blobs'>,
  { sha256, filename, file_format }: ArtifactRow,
  request: HttpRequest,
): Promise<Reply<Readable>> =>
  replyWithBlob(services, request, { sha256, name: filename, contentType: formats[file_format] ?? BYTES });

/** Types of files that programs ask for by address; the rest is text or bytes. */
const types: Readonly<Record<string, string>> = {
  '.json': 'application/json',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.pdf': 'application/pdf',
  '.zip': 'application/zip',
  ...Object.fromEntries(
    ['.txt', '.log', '.md', '.csv', '.xml', '.html', '.htm', '.svg', '.css', '.js', '.yml', '.yaml'].map(
      (ending) => [ending, 'text/plain; charset=utf-8'],
    ),
  ),
};

export const ArchivedFile = bytesOf(
  ...new Set([...Object.values(types).map((type) => type.replace(/;.*/, '')), BYTES]),
);

/** A file in the archive. 400 for a path that is none; 404 and 422 as of openArchived(). */
export async function replyWithArchived(
  { blobs }: Needs<'blobs'>,
  { sha256 }: ArtifactRow,
  path: string,
  request: HttpRequest,
): Promise<Reply<Readable>> {
  if (!isArchivePath(path)) throw badRequest('artifact_path is not the path of a file');
  const { size, stream } = await openArchived(await blobs.open(sha256), path);
  const { etag, isKnown } = etagOf(`${sha256.toString('hex')} ${path}`, request);
  const ending = extname(path).toLowerCase();
  const headers = {
    'content-type': (Object.hasOwn(types, ending) && types[ending]) || BYTES,
    'content-length': String(size),
    'content-disposition': dispositionHeader('attachment', posix.basename(path)),
    ...harmless,
    etag,
  };
  if (request.method !== 'HEAD' && !isKnown) return new Reply(200, stream, headers);
  stream.destroy();
  if (isKnown) return new Reply<Readable>(304, undefined, { etag, ...harmless });
  return new Reply(200, Readable.from([]), headers);
}
