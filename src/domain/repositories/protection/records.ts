/** Protected branches in the records of others. */
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import { isPremium, presentBranch } from './present.ts';
import { selectSomeBranches } from './queries.ts';
import type { ProtectedBranch } from './schema.ts';

/** Those of the project with these ids, and the `first` so many of all, in the order in which they were made. */
export async function selectProtectedBranches(
  db: Db,
  services: Needs<'config'>,
  projectId: number,
  some: { named: readonly number[]; first: number },
): Promise<ProtectedBranch[]> {
  const rows = await selectSomeBranches(db, projectId, some);
  return rows.map((row) => presentBranch(row, isPremium(services)));
}
