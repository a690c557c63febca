/** Traces of jobs, as files below the data folder: each grows by parts that follow one another. */
import { constants, createReadStream, existsSync } from 'node:fs';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

/** Bytes of one trace. */
export const MAX_TRACE_BYTES = 100 * 1_048_576;
const FOLDERS = 1_000;

const folderOf = (data: string, jobId: number): string => join(data, 'ci', 'traces', String(jobId % FOLDERS));
const fileOf = (data: string, jobId: number): string => join(folderOf(data, jobId), `${jobId}.log`);

/** Bytes that there are. */
export async function traceSize(data: string, jobId: number): Promise<number> {
  try {
    return (await stat(fileOf(data, jobId))).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}

/** Writes a part at its place, if all before it is there; returns the size that the trace has then, and whether it was written. */
export async function appendTrace(
  data: string,
  jobId: number,
  start: number,
  part: Buffer,
): Promise<{ written: boolean; size: number }> {
  await mkdir(folderOf(data, jobId), { recursive: true });
  const file = await open(fileOf(data, jobId), constants.O_RDWR | constants.O_CREAT);
  try {
    const { size } = await file.stat();
    // A part that was sent again.
    if (start + part.length === size && start < size) return { written: true, size };
    if (start !== size) return { written: false, size };
    // At its place and not at the end: one that is sent twice at once is there once.
    const { bytesWritten } = await file.write(part, 0, part.length, start);
    return { written: true, size: start + bytesWritten };
  } finally {
    await file.close();
  }
}

/** Undefined where the job has none. */
export async function readTrace(data: string, jobId: number): Promise<Readable | undefined> {
  const size = await traceSize(data, jobId);
  // As much as there is now: the file may grow meanwhile.
  return size === 0 ? undefined : createReadStream(fileOf(data, jobId), { end: size - 1 });
}

/** The last bytes of a trace as text; whether there are more before them. */
export async function readTraceEnd(
  data: string,
  jobId: number,
  maximum: number,
): Promise<{ text: string; cut: boolean }> {
  const size = await traceSize(data, jobId);
  if (size === 0) return { text: '', cut: false };
  const start = Math.max(0, size - maximum);
  const pieces: Buffer[] = [];
  for await (const piece of createReadStream(fileOf(data, jobId), { start, end: size - 1 }))
    pieces.push(piece);
  return { text: Buffer.concat(pieces).toString('utf8'), cut: start > 0 };
}

export const removeTrace = (data: string, jobId: number): Promise<void> =>
  rm(fileOf(data, jobId), { force: true });

/** The folders that traces are in; none before the first. */
export async function traceFolders(data: string): Promise<string[]> {
  const root = join(data, 'ci', 'traces');
  const names = existsSync(root) ? await readdir(root) : [];
  return names.map((name) => join(root, name));
}

/** The jobs whose traces are in the folder. */
export async function tracesIn(folder: string): Promise<number[]> {
  const names = await readdir(folder);
  return names.flatMap((name) => (/^\d{1,15}\.log$/.test(name) ? [Number.parseInt(name, 10)] : []));
}
