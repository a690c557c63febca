/** Makes the pipelines, jobs and deployments of a deleted user the ghost's. */
import { ahead, type Db } from '../../../platform/db/database.ts';

export async function reassign(tx: Db, userId: number, ghostId: number): Promise<void> {
  for (const table of ['pipelines', 'ci_jobs', 'deployments'] as const)
    await ahead(tx).updateTable(table).set({ user_id: ghostId }).where('user_id', '=', userId).execute();
}
