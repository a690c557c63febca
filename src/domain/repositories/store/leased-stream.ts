/** A stream from a repository, which is leased until the stream closes. */

import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { RepositoryKey } from '../../../kernel/repository-store.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';

/** The lease ends when the stream closes. Rejected when the stream fails before its first byte. */
export async function streamLeased(
  { repositories, log }: Needs<'repositories' | 'log'>,
  key: RepositoryKey,
  make: (git: GitFolder) => Readable,
): Promise<Readable> {
  const lease = await repositories.lease(key, 'read');
  const release = () =>
    lease.release().catch((error: unknown) => log.error('a repository was not let go', error, {}));
  let stream: Readable | undefined;
  try {
    stream = make(lease.git).once('close', () => void release());
    // git's errors come before the first byte: the response can still have their status.
    await once(stream, 'readable');
    // Later the response has started: all that remains is to truncate it.
    return stream.on('error', (error) => log.error('a download ended early', error));
  } catch (error) {
    if (!stream) await release();
    throw error;
  }
}
