/** A folder of backups on disk. */
import { open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isBackupName, isDraftName, toRemove } from './rules.ts';

export type FoundBackup = { name: string /** When it was whole. */; at: Date; bytes: number };

/** None where the folder is not there. */
async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}

/** The latest that is whole; undefined without one. */
export async function latestBackup(folder: string): Promise<FoundBackup | undefined> {
  const name = (await namesIn(folder)).filter(isBackupName).sort().at(-1);
  if (name === undefined) return undefined;
  const { mtime, size } = await stat(join(folder, name));
  return { name, at: mtime, bytes: size };
}

const DAY_MS = 86_400_000;

/** The index of a backup lies beside it. */
export const indexOf = (file: string): string => `${file}.index`;

/** The name of the backup that this one borrows from, as the first line of its index says. */
export async function baseOf(file: string): Promise<string | undefined> {
  const handle = await open(indexOf(file)).catch(() => undefined);
  if (!handle) return undefined;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(4_096), 0, 4_096, 0);
    const [line = ''] = buffer.toString('utf8', 0, bytesRead).split('\n');
    const { base } = JSON.parse(line);
    return typeof base === 'string' && /^[^\\/]+$/.test(base) ? base : undefined;
  } catch {
    return undefined;
  } finally {
    await handle.close();
  }
}

/** Removes the backups but for so many of the latest, and `made`, which was just made, and what was left of those that were cut off; returns their names. */
export async function prune(folder: string, keep: number, time: Date, made: string): Promise<string[]> {
  const names = await namesIn(folder);
  const bases = new Map<string, string>();
  for (const name of names.filter(isBackupName)) {
    const base = await baseOf(join(folder, name));
    if (base !== undefined) bases.set(name, base);
  }
  const gone = toRemove(names, keep, bases, made);
  for (const name of gone)
    for (const path of [name, indexOf(name)]) await rm(join(folder, path), { force: true });
  for (const name of names.filter(isDraftName)) {
    const { mtimeMs } = await stat(join(folder, name)).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (mtimeMs < time.getTime() - DAY_MS) await rm(join(folder, name), { force: true });
  }
  return gone;
}
