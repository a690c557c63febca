/** Removes the traces of jobs that are gone: they went with their pipeline or project, by foreign key. */
import type { Needs } from '../../../kernel/services.ts';
import { selectPresent } from './queries.ts';
import { removeTrace, traceFolders, tracesIn } from './traces.ts';

export async function sweepTraces({ config, database }: Needs<'config' | 'database'>): Promise<void> {
  for (const folder of await traceFolders(config.data)) {
    const ids = await tracesIn(folder);
    const present = new Set(await selectPresent(database.background, ids));
    for (const id of ids) if (!present.has(id)) await removeTrace(config.data, id);
  }
}
