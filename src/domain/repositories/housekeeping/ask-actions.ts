/** Asks for the housekeeping of a project's repositories. */

import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import { selectOfProject, WRITES_TO_REPACK } from './queries.ts';

/**
 * Requests a whole repack of the project's repository: its row says so, and stays so over a crash. False when
 * a request waits or is being fulfilled.
 */
export async function askForHousekeeping(tx: Db, projectId: number): Promise<boolean> {
  const [own] = (await selectOfProject(tx, projectId)).filter(({ wiki }) => !wiki);
  if (!own) return true;
  const requested = await tx
    .updateTable('repositories')
    .set({
      writes: sql<number>`greatest(writes, ${WRITES_TO_REPACK})`,
      packed_at: null,
      tended_at: null,
    })
    .where('id', '=', own.id)
    .where(
      sql<boolean>`not (writes >= ${WRITES_TO_REPACK} and packed_at is null and tended_at is null)
        and not exists (select from repository_uses u join processes p on p.id = u.process_id
          where u.container = 'project' and u.container_id = ${projectId} and u.purpose = 'tend')`,
    )
    .executeTakeFirst();
  return requested.numUpdatedRows > 0n;
}
