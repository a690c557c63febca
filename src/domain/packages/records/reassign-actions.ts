/** What a deleted user published becomes the ghost's. */
import { ahead, type Db } from '../../../platform/db/database.ts';

export async function reassignPackages(tx: Db, userId: number, ghostId: number): Promise<void> {
  await ahead(tx)
    .updateTable('packages')
    .set({ creator_id: ghostId })
    .where('creator_id', '=', userId)
    .execute();
}
