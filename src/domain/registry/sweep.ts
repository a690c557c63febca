/** What the clock removes: uploads that did not end within a day, manifests and blobs that nothing needed for so long, what groups keep of other registries and do not pull, and repositories whose job was lost. */
import type { Needs } from '../../kernel/services.ts';
import { unlinkUnneeded } from './images/sweep-actions.ts';
import { removeUnneeded } from './images/unneeded-actions.ts';
import { removeExpired } from './proxy/removal.ts';
import { removeLeft } from './repositories/removal.ts';
import { removeUpload } from './uploads/actions.ts';
import { selectEnded } from './uploads/queries.ts';
import { discardChunks } from './uploads/receive.ts';

export async function sweepRegistry({ database, blobs }: Needs<'database' | 'blobs'>): Promise<void> {
  const { background } = database;
  for (let ids = await selectEnded(background); ids.length > 0; ids = await selectEnded(background))
    for (const id of ids) await discardChunks(blobs, await removeUpload(background, id));
  await removeLeft({ database, blobs });
  for await (const gone of removeUnneeded(background)) await blobs.release(gone);
  for await (const gone of unlinkUnneeded(background)) await blobs.release(gone);
  await removeExpired({ database, blobs });
}
