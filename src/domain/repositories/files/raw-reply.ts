/** The bytes of a blob as a response, whole or streamed, and the limit on such requests. */
import type { Readable } from 'node:stream';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { bytesOf, Reply } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { Failure } from '../../../platform/failure.ts';
import { isLarge, streamBlob } from '../../../platform/git/files/blobs.ts';
import type { GitFolder, ObjectInfo } from '../../../platform/git/objects.ts';
import { dispositionHeader } from '../../../platform/http/disposition.ts';
import type { HttpRequest } from '../../../platform/http/messages.ts';
import { digest } from '../../../platform/secret.ts';
import { readRepository } from '../commits/queries.ts';
import { replyWithStream } from './leased-stream.ts';

const MINUTE_SECONDS = 60;

/** Types that no browser runs: text as such, the rest and large files as bytes. */
export const RawFile = bytesOf('text/plain', 'application/octet-stream');

/**
 * 429 when the raw file of this project and path was requested too often within the minute, by all callers.
 */
export async function limitRaw(
  { limiter }: Needs<'limiter'>,
  settings: ApplicationSettings,
  project: AuthorizedProject,
  path: string,
): Promise<void> {
  const limit = settings.raw_blob_request_limit;
  if (limit === 0) return;
  const key = `raw_blob:${project.id}:${digest(path).toString('hex')}`;
  const { allowed, retryAfter } = await limiter.take(key, { limit, periodSeconds: MINUTE_SECONDS });
  if (allowed) return;
  throw new Failure(
    'too_many_requests',
    'This endpoint has been requested too many times. Try again later.',
    { headers: { 'retry-after': String(retryAfter) } },
  );
}

export type FoundBlob = { name: string; info: ObjectInfo };

/** Bytes of the beginning in which git looks for a zero, to tell a binary file. */
const SNIFFED_BYTES = 8_000;

/** The bytes of the blob that `find` names; undefined when the project has no repository. */
export async function replyWithBlob(
  services: Needs<'repositories' | 'log'>,
  project: AuthorizedProject,
  request: HttpRequest,
  find: (git: GitFolder) => Promise<FoundBlob>,
): Promise<Reply<Buffer | Readable> | undefined> {
  const read = await readRepository(services, project, async (git) => {
    const { name, info } = await find(git);
    return { name, info, content: isLarge(info) ? undefined : (await git.read(info.oid))?.content };
  });
  if (!read) return undefined;
  const { name, info, content } = read;
  const disposition = { 'content-disposition': dispositionHeader('inline', name) };
  if (content) {
    const text = !content.subarray(0, SNIFFED_BYTES).includes(0);
    const type = text ? 'text/plain; charset=utf-8' : 'application/octet-stream';
    return new Reply(200, content, { ...disposition, 'content-type': type });
  }
  return replyWithStream(services, project, request, {
    identity: info.oid,
    headers: {
      ...disposition,
      'content-type': 'application/octet-stream',
      'content-length': String(info.size),
    },
    make: (git) => streamBlob(git, info.oid),
  });
}
