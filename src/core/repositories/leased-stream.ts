/** A stream out of a repository, which stays where it is until the stream is read or given up. */
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { GitFolder } from '../../platform/git/objects.ts';
import type { Services } from '../services.ts';
import type { RepositoryKey } from './containers.ts';

/** The repository is let go when the stream closes, for whatever reason. Rejected when the stream fails before its first byte. */
export async function streamLeased(
  { repositories, log }: Pick<Services, 'repositories' | 'log'>,
  key: RepositoryKey,
  make: (git: GitFolder) => Readable,
): Promise<Readable> {
  const lease = await repositories.lease(key, 'read');
  const release = () =>
    lease.release().catch((error: unknown) => log.error('a repository was not let go', error, {}));
  let stream: Readable | undefined;
  try {
    stream = make(lease.git).once('close', () => void release());
    // What git refuses, and that there is no place for it, is known before its first byte: the answer can still say so.
    await once(stream, 'readable');
    // Later the answer is under way, and all that can be done is to cut it short.
    return stream.on('error', (error) => log.error('a download ended early', error));
  } catch (error) {
    if (!stream) await release();
    throw error;
  }
}
