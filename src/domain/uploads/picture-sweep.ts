/** Removes unused images: replaced ones, and those of changes refused after the upload. */
import { statSync, unlinkSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import { selectNamed } from './queries.ts';

/** The folders of images; other folders belong to others. */
const PART = /^[0-9a-f]{2}$/;
const DAY = 86_400_000;
const BATCH = 500;

/**
 * Deletes files below `uploads` that are older than a day and that no user, group, project, topic or metric
 * image names; returns their number. A younger file may belong to an uncommitted change. Every upload writes
 * its file anew, even with existing content, so an old file that is used again is young.
 */
export async function sweepPictures(db: Db, dataFolder: string): Promise<number> {
  const root = join(dataFolder, 'uploads');
  let removed = 0;
  for (const part of (await filesOf(root)).filter((name) => PART.test(name))) {
    const folder = join(root, part);
    const names = await filesOf(folder);
    for (let start = 0; start < names.length; start += BATCH) {
      const batch = names.slice(start, start + BATCH);
      const named = await selectNamed(db, batch);
      for (const name of batch) if (!named.has(name) && removeOld(join(folder, name))) removed += 1;
    }
  }
  return removed;
}

/** Empty when the folder is missing, or is a file. */
const filesOf = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });

/** Synchronous: an upload between check and removal would lose its file. */
function removeOld(file: string): boolean {
  try {
    if (statSync(file).mtimeMs > now().getTime() - DAY) return false;
    unlinkSync(file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
