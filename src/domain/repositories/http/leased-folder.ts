/** The folder that a service reads: the repository's, leased so that no move takes it away, or an empty one instead. */

import { join } from 'node:path';
import type { Purpose } from '../../../kernel/repository-store.ts';
import type { Needs } from '../../../kernel/services.ts';
import { Failure } from '../../../platform/failure.ts';
import { isRepository } from '../../../platform/git/ref-files.ts';
import { createRepository } from '../../../platform/git/write.ts';
import { selectWrites } from '../store/queries.ts';
import type { PushTarget } from '../store/repository-kinds.ts';

export type LeasedFolder = {
  folder: string;
  /** There is no repository yet: the folder is the empty one that all share. */
  empty: boolean;
  /** May be called more than once. */
  release(): Promise<void>;
};

/**
 * Leases the folder; 403 for a write while the repository is read-only, 503 when it should be on the disk and
 * is not.
 */
export async function leaseFolder(
  services: Needs<'config' | 'database' | 'repositories'>,
  { key, ensureStorage }: Pick<PushTarget, 'key' | 'ensureStorage'>,
  purpose: Purpose,
): Promise<LeasedFolder> {
  const lease = await services.repositories.lease(key, purpose).catch((error: unknown) => {
    // The container may have no storage before the first write.
    if (ensureStorage && error instanceof Failure && error.kind === 'not_found') return undefined;
    throw error;
  });
  const release = async () => lease?.release();
  try {
    if (lease && isRepository(lease.git.folder)) return { folder: lease.git.folder, empty: false, release };
    if (lease && (await selectWrites(services.database.points, key)) !== undefined)
      throw new Failure('unavailable', 'The repository cannot be read at the moment.');
    return { folder: await emptyRepository(services), empty: true, release };
  } catch (error) {
    await release();
    throw error;
  }
}

/** A repository without refs, which no client writes to. */
export async function emptyRepository({ config }: Needs<'config'>): Promise<string> {
  const folder = join(config.data, 'empty.git');
  if (!isRepository(folder)) await createRepository(folder, 'main');
  return folder;
}
