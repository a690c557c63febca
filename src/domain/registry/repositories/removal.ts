/** Removes repositories that were deleted, by small steps. */
import type { Needs } from '../../../kernel/services.ts';
import { removeUpload } from '../uploads/actions.ts';
import { selectUploadsOf } from '../uploads/queries.ts';
import { discardChunks } from '../uploads/receive.ts';
import { beginRemoval, endRemoval, removeContent, selectRemoved } from './removal-actions.ts';

export const REMOVE_REPOSITORY = 'registry.remove_repository';

export async function removeRepository(
  { database: { background: db }, blobs }: Needs<'database' | 'blobs'>,
  id: number,
): Promise<void> {
  if (!(await beginRemoval(db, id))) return;
  for (let ids = await selectUploadsOf(db, id); ids.length > 0; ids = await selectUploadsOf(db, id))
    for (const upload of ids) await discardChunks(blobs, await removeUpload(db, upload));
  for await (const gone of removeContent(db, id)) await blobs.release(gone);
  await endRemoval(db, id);
}

/** Those whose job was lost. */
export async function removeLeft(services: Needs<'database' | 'blobs'>): Promise<void> {
  for (const id of await selectRemoved(services.database.background)) await removeRepository(services, id);
}
