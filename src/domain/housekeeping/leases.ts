/** Whose turn it is to tend a repository: one process at a time, and nobody while it moves. */
import type { RepositoryKey } from '../../core/repositories/containers.ts';
import type { Repositories, RepositoryLease } from '../../core/repositories/store.ts';
import { Failure } from '../../platform/failure.ts';

/**
 * Holds the repository for tending; undefined when somebody else does, when it moves, or when it is gone. Each first says
 * that it holds it and then looks who else does: of two who come at once, at least one sees the other.
 */
export async function leaseForHousekeeping(
  repositories: Repositories,
  key: RepositoryKey,
): Promise<RepositoryLease | undefined> {
  let lease: RepositoryLease;
  try {
    lease = await repositories.lease(key, 'tend');
  } catch (error) {
    if (error instanceof Failure && (error.kind === 'forbidden' || error.kind === 'not_found'))
      return undefined;
    throw error;
  }
  if ((await repositories.uses(key.kind, key.id, ['tend'])) === 1) return lease;
  await lease.release();
  return undefined;
}
