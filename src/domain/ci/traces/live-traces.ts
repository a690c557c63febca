/** Traces of jobs that run, as files below the folder of files: each grows by parts that follow one another. */
import { constants, existsSync } from 'node:fs';
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { asBlob, type OpenBlob } from '../../../platform/blobs/blob-store.ts';

/** Bytes of one trace. */
export const MAX_TRACE_BYTES = 100 * 1_048_576;
const FOLDERS = 1_000;

const folderOf = (files: string, jobId: number): string =>
  join(files, 'ci', 'traces', String(jobId % FOLDERS));
/** Of the live trace of a job. */
export const fileOf = (files: string, jobId: number): string => join(folderOf(files, jobId), `${jobId}.log`);

/** What there is now; undefined where there is no file. */
export async function openLive(files: string, jobId: number): Promise<OpenBlob | undefined> {
  try {
    return await asBlob(await open(fileOf(files, jobId)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** In bytes; none without a file. */
export async function liveSize(files: string, jobId: number): Promise<number> {
  const live = await openLive(files, jobId);
  await live?.close();
  return live?.size ?? 0;
}

/** Writes a part at its place, if all before it is there; returns the size that the trace has then, and whether it was written. */
export async function appendTrace(
  files: string,
  jobId: number,
  start: number,
  part: Buffer,
): Promise<{ written: boolean; size: number }> {
  await mkdir(folderOf(files, jobId), { recursive: true });
  const file = await open(fileOf(files, jobId), constants.O_RDWR | constants.O_CREAT);
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

export const removeLive = (files: string, jobId: number): Promise<void> =>
  rm(fileOf(files, jobId), { force: true });

/** The folders that traces are in, in the order of their names; none before the first. */
export async function liveFolders(files: string): Promise<string[]> {
  const root = join(files, 'ci', 'traces');
  const names = existsSync(root) ? await readdir(root) : [];
  return names.sort().map((name) => join(root, name));
}

/** The jobs whose traces are in the folder. */
export async function liveIn(folder: string): Promise<number[]> {
  const names = await readdir(folder);
  return names.flatMap((name) => (/^\d{1,15}\.log$/.test(name) ? [Number.parseInt(name, 10)] : []));
}
