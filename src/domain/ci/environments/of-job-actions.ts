/** The environment of a job that a runner takes, and its address as the job's variables have it. */
import type { Db } from '../../../platform/db/database.ts';
import type { JobRow } from '../processing/process-actions.ts';
import type { EnvironmentRow } from './queries.ts';
import { addressProblems } from './rules.ts';

/** Undefined where the job has none. */
export const selectEnvironmentOf = async (
  db: Db,
  { environment_id }: JobRow,
): Promise<EnvironmentRow | undefined> =>
  environment_id === null
    ? undefined
    : db.selectFrom('environments').selectAll().where('id', '=', environment_id).executeTakeFirst();

const MAX_ADDRESS_LENGTH = 255;

/** The environment has the address when the job has gone well; one that it could not have is left out. */
export async function keepAddress(db: Db, { id }: JobRow, address: string): Promise<void> {
  if (address.length > MAX_ADDRESS_LENGTH || Object.keys(addressProblems(address)).length > 0) return;
  await db.updateTable('deployments').set({ external_url: address }).where('job_id', '=', id).execute();
}
