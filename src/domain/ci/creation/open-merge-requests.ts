/** Registry of how the open merge requests of a branch are found. */
import { Registry } from '../../../kernel/registry.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';

/** References in full, the newest first. */
type FindOpenMergeRequests = (
  db: Db,
  sourceProjectId: number,
  sourceBranch: string,
  most: number,
) => Promise<string[]>;

export const openMergeRequests = new Registry<FindOpenMergeRequests>();

/** Jobs are told of so many. */
const MAX_TOLD = 4;

export async function findOpenMergeRequests(
  services: Needs<'database' | 'registered'>,
  sourceProjectId: number,
  sourceBranch: string,
): Promise<string[]> {
  const [find] = openMergeRequests.all(services);
  return (await find?.(services.database.db, sourceProjectId, sourceBranch, MAX_TOLD)) ?? [];
}
