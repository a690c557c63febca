/** Traces of jobs: files while they grow, blobs after that. */
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Needs } from '../../../kernel/services.ts';
import type { OpenBlob } from '../../../platform/blobs/blob-store.ts';
import { openLive } from './live-traces.ts';
import { selectArchived } from './queries.ts';

export type TraceServices = Needs<'blobs' | 'config' | 'database'>;

/** Undefined where the job has written nothing. */
async function openTrace(
  { blobs, config, database }: TraceServices,
  jobId: number,
): Promise<OpenBlob | undefined> {
  const live = await openLive(config.files, jobId);
  if (live && live.size > 0) return live;
  await live?.close();
  const archived = await selectArchived(database.db, jobId);
  return archived && blobs.open(archived.sha256);
}

/** As much as there is now; undefined where the job has written nothing. */
export async function readTrace(services: TraceServices, jobId: number): Promise<Readable | undefined> {
  const trace = await openTrace(services, jobId);
  return trace?.stream({ start: 0, end: trace.size - 1 });
}

/** The last bytes of a trace as text; whether there are more before them. */
export async function readTraceEnd(
  services: TraceServices,
  jobId: number,
  maximum: number,
): Promise<{ text: string; cut: boolean }> {
  const trace = await openTrace(services, jobId);
  if (!trace) return { text: '', cut: false };
  const start = Math.max(0, trace.size - maximum);
  return { text: await text(trace.stream({ start, end: trace.size - 1 })), cut: start > 0 };
}
