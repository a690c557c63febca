/** Archives, and files in them, as responses that no browser runs. */
import { extname, posix } from 'node:path';
import { Readable } from 'node:stream';
import { bytesOf, Reply } from '../../../kernel/api/endpoint.ts';
import { openFile, storedPath } from '../../../kernel/files/stored-files.ts';
import type { Needs } from '../../../kernel/services.ts';
import { badRequest, notFound } from '../../../platform/failure.ts';
import { dispositionHeader } from '../../../platform/http/disposition.ts';
import { openArchived } from './archive.ts';
import { artifactsFolder } from './files.ts';
import type { ArtifactRow } from './queries.ts';
import { isArchivePath } from './rules.ts';

const BYTES = 'application/octet-stream';
const harmless = {
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'private, max-age=0, must-revalidate',
};

const formats: Readonly<Record<string, string>> = { zip: 'application/zip', gzip: 'application/gzip' };

/** The headers of an artifact, and its bytes where they are requested; 404 where its file is gone. */
export async function downloadOf(
  { config }: Needs<'config'>,
  { secret, filename, file_format }: ArtifactRow,
  method: string,
): Promise<{ headers: Record<string, string>; body: Readable }> {
  const file = await openFile(artifactsFolder(config.data), secret);
  if (!file) throw notFound();
  const headers = {
    'content-type': formats[file_format] ?? BYTES,
    'content-length': String(file.size),
    'content-disposition': dispositionHeader('attachment', filename),
    ...harmless,
  };
  if (method !== 'HEAD') return { headers, body: file.stream() };
  await file.close();
  return { headers, body: Readable.from([]) };
}

export async function replyWithArchive(
  services: Needs<'config'>,
  archive: ArtifactRow,
  method: string,
): Promise<Reply<Readable>> {
  const { headers, body } = await downloadOf(services, archive, method);
  return new Reply(200, body, headers);
}

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
  { config }: Needs<'config'>,
  { secret }: ArtifactRow,
  path: string,
  method: string,
): Promise<Reply<Readable>> {
  if (!isArchivePath(path)) throw badRequest('artifact_path is not the path of a file');
  const { size, stream } = await openArchived(storedPath(artifactsFolder(config.data), secret).file, path);
  const ending = extname(path).toLowerCase();
  const headers = {
    'content-type': (Object.hasOwn(types, ending) && types[ending]) || BYTES,
    'content-length': String(size),
    'content-disposition': dispositionHeader('attachment', posix.basename(path)),
    ...harmless,
  };
  if (method !== 'HEAD') return new Reply(200, stream, headers);
  stream.destroy();
  return new Reply(200, Readable.from([]), headers);
}
