/** Streams out of a project's repository, which stays leased until they are read or given up. */
import { Readable } from 'node:stream';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { Reply } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import { notFound } from '../../../platform/failure.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { GitError } from '../../../platform/git/program/program.ts';
import { etagOf } from '../../../platform/http/etag.ts';
import type { HttpRequest } from '../../../platform/http/messages.ts';
import { projectRepository } from '../store/containers.ts';
import { streamLeased } from '../store/leased-stream.ts';

export type StreamOrder = {
  /** The identity of the bytes: while it is the same, they are. */
  identity: string;
  headers: Record<string, string>;
  make(git: GitFolder): Readable;
};

/**
 * The stream as a response: 304 to a client that has it already, no bytes for HEAD. The lease ends when the
 * stream closes, for whatever reason. 404 for a path that git does not find.
 */
export async function replyWithStream(
  services: Needs<'repositories' | 'log'>,
  project: AuthorizedProject,
  request: HttpRequest,
  { identity, headers, make }: StreamOrder,
): Promise<Reply<Readable>> {
  const { etag, isKnown } = etagOf(identity, request);
  const cache = { etag, 'cache-control': 'max-age=0, private, must-revalidate' };
  if (isKnown) return new Reply<Readable>(304, undefined, cache);
  const stream = request.method === 'HEAD' ? Readable.from([]) : await holdWhileRead(services, project, make);
  return new Reply(200, stream, { ...headers, ...cache });
}

async function holdWhileRead(
  services: Needs<'repositories' | 'log'>,
  project: AuthorizedProject,
  make: StreamOrder['make'],
): Promise<Readable> {
  try {
    return await streamLeased(services, projectRepository(project.id), make);
  } catch (error) {
    if (error instanceof GitError && /did not match any files/.test(error.stderr)) throw notFound('File');
    throw error;
  }
}
