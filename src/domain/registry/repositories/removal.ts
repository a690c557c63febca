/** Removes repositories that were deleted, by small steps. */
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import { addJobs } from '../../../platform/jobs/jobs.ts';
import { startTurn } from '../../../platform/jobs/turn.ts';
import { CLEANING } from '../tags/removal.ts';
import { removeUpload } from '../uploads/actions.ts';
import { selectUploadsOf } from '../uploads/queries.ts';
import { discardChunks } from '../uploads/receive.ts';
import { beginRemoval, endRemoval, removeContent, selectRemoved } from './removal-actions.ts';

export const REMOVE_REPOSITORY = 'registry.remove_repository';

/** In the transaction that ends the repository. */
export const removeLater = (db: Db, id: number): Promise<void> =>
  addJobs(db, [
    {
      task: REMOVE_REPOSITORY,
      payload: { repository_id: id },
      queue: CLEANING,
      key: `${REMOVE_REPOSITORY} ${id}`,
    },
  ]);

/** One turn; what is left is a job behind those that wait. */
export async function removeRepository(
  { database: { background: db }, blobs }: Needs<'database' | 'blobs'>,
  id: number,
  turnMs?: number,
): Promise<void> {
  if (!(await beginRemoval(db, id))) return;
  const isOver = startTurn(turnMs);
  for (let ids = await selectUploadsOf(db, id); ids.length > 0; ids = await selectUploadsOf(db, id))
    for (const upload of ids) await discardChunks(blobs, await removeUpload(db, upload));
  for await (const gone of removeContent(db, id)) {
    await blobs.release(gone);
    if (isOver()) return removeLater(db, id);
  }
  await endRemoval(db, id);
}

/** Those whose job was lost. */
export async function removeLeft(services: Needs<'database' | 'blobs'>): Promise<void> {
  for (const id of await selectRemoved(services.database.background)) await removeRepository(services, id);
}
