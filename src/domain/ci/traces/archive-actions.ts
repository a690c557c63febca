/** Makes the traces of jobs that have ended blobs. */
import { basename } from 'node:path';
import { sql } from 'kysely';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import { goOnLater, startTurn } from '../../../platform/jobs/turn.ts';
import { liveFolders, liveIn, openLive, removeLive } from './live-traces.ts';
import { lockEnded, selectEnds } from './queries.ts';
import type { TraceServices } from './traces.ts';

export const ARCHIVE_TRACES = 'ci.archive_traces';

/** A part that was on its way when the job ended is there by then. */
const SETTLED_MS = 60_000;

/** The file goes when the row is there; one of a job that was erased meanwhile goes without. */
async function archive({ blobs, config, database }: TraceServices, jobId: number): Promise<void> {
  const live = await openLive(config.files, jobId);
  if (!live) return;
  const draft = await blobs.draft();
  try {
    for await (const piece of live.stream()) await draft.write(piece);
    const { sha256, size } = await draft.finish();
    await inTransaction(database.background, async (tx) => {
      if (size === 0 || !(await lockEnded(tx, jobId))) return;
      await draft.keep(tx);
      await sql`
        insert into ci_traces (job_id, project_id, sha256, size)
        select id, project_id, ${sha256}, ${size} from ci_jobs where id = ${jobId}
        on conflict do nothing`.execute(tx);
    });
    await removeLive(config.files, jobId);
  } finally {
    await draft.discard();
  }
}

/**
 * Files of jobs that are gone, too: they went with their pipeline or project, by foreign key. One turn, from a folder on; what is
 * left is a job behind those that wait. A trace that cannot be kept, on a full disk, holds up no other.
 */
export async function archiveTraces(
  services: TraceServices & Needs<'log'>,
  { from = '' }: { from?: unknown } = {},
  turnMs?: number,
): Promise<void> {
  const { config, database, log } = services;
  const before = now().getTime() - SETTLED_MS;
  const isOver = startTurn(turnMs);
  let isBegun = false;
  let failed = 0;
  let problem: unknown;
  for (const folder of await liveFolders(config.files)) {
    const name = basename(folder);
    if (name < String(from)) continue;
    if (isBegun && isOver()) {
      await goOnLater(database.background, ARCHIVE_TRACES, { from: name });
      break;
    }
    isBegun = true;
    const ids = await liveIn(folder);
    const ends = await selectEnds(database.background, ids);
    for (const id of ids) {
      const ended = ends.get(id);
      try {
        if (ended === undefined) await removeLive(config.files, id);
        else if (ended !== null && ended.getTime() < before) await archive(services, id);
      } catch (error) {
        failed += 1;
        problem ??= error;
      }
    }
  }
  if (failed > 0) log.error('traces could not be archived', problem, { failed });
}
