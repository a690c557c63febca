/** Reassigns what a deleted user wrote about alerts. */
import { ahead, type Db } from '../../platform/db/database.ts';

/** Removes the user from the assignees; images and entries of timelines become the ghost's. */
export async function reassignAlerts(tx: Db, userId: number, ghostId: number): Promise<void> {
  await ahead(tx).deleteFrom('alert_assignees').where('user_id', '=', userId).execute();
  await ahead(tx)
    .updateTable('metric_images')
    .set({ author_id: ghostId })
    .where('author_id', '=', userId)
    .execute();
  await ahead(tx)
    .updateTable('incident_timeline_events')
    .set({ author_id: ghostId })
    .where('author_id', '=', userId)
    .execute();
}
