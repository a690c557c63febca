/** Makes the traces of jobs that have ended blobs. */
import { now } from '../../../platform/clock.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import { liveFolders, liveIn, openLive, removeLive } from './live-traces.ts';
import { lockEnded, selectEnds } from './queries.ts';
import type { TraceServices } from './traces.ts';

/** A part that was on its way when the job ended is there by then. */
const SETTLED_MS = 60_000;

/** The file goes when the row is there; one of a job that was erased meanwhile goes without. */
async function archive({ blobs, config, database }: TraceServices, jobId: number): Promise<void> {
  const live = await openLive(config.data, jobId);
  if (!live) return;
  const draft = await blobs.draft();
  try {
    for await (const piece of live.stream()) await draft.write(piece);
    const { sha256, size } = await draft.finish();
    await inTransaction(database.background, async (tx) => {
      if (size === 0 || !(await lockEnded(tx, jobId))) return;
      await draft.keep(tx);
      await tx
        .insertInto('ci_traces')
        .values({ job_id: jobId, sha256, size })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    });
    await removeLive(config.data, jobId);
  } finally {
    await draft.discard();
  }
}

/** Files of jobs that are gone, too: they went with their pipeline or project, by foreign key. */
export async function archiveTraces(services: TraceServices): Promise<void> {
  const { config, database } = services;
  const before = now().getTime() - SETTLED_MS;
  for (const folder of await liveFolders(config.data)) {
    const ids = await liveIn(folder);
    const ends = await selectEnds(database.background, ids);
    for (const id of ids) {
      const end = ends.get(id);
      if (end === undefined) await removeLive(config.data, id);
      else if (end !== null && end.getTime() < before) await archive(services, id);
    }
  }
}
