/** Leases for housekeeping: one process at a time, and none while the repository moves. */
import type { Repositories, RepositoryKey, RepositoryLease } from '../../../kernel/repository-store.ts';
import { Failure } from '../../../platform/failure.ts';

/**
 * Leases the repository for housekeeping; undefined when another process does, when it moves, or when it is
 * gone. Each records its lease first and then looks for others: of two at the same time, at least one sees
 * the other.
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
