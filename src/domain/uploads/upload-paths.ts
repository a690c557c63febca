/** Paths of uploaded files: each has a random secret, so that no name from a request is ever a path. */
import { copyFile, link, mkdir, open, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { now } from '../../platform/clock.ts';

const SECRET = /^[0-9a-f]{32}$/;

/** The folder of all uploaded files. */
export const uploadsFolder = (dataFolder: string): string => join(dataFolder, 'uploads', 'files');

/** The path of the file with this secret. */
export function uploadPaths(dataFolder: string, secret: string): { folder: string; file: string } {
  if (!SECRET.test(secret)) throw new Error('not the name of an uploaded file');
  const folder = join(uploadsFolder(dataFolder), secret.slice(0, 2));
  return { folder, file: join(folder, secret) };
}

/** Syncs the folder's names to disk. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | null)?.code;

/** Errors of file systems without hard links. */
const withoutLinks = new Set<unknown>(['EPERM', 'EXDEV', 'ENOTSUP', 'ENOSYS', 'EMLINK']);

/**
 * Links the file to another secret too, and returns whether it exists. Files never change, so both share
 * their bytes on disk until each is removed.
 */
export async function keepUnderAnother(dataFolder: string, secret: string, other: string): Promise<boolean> {
  const [from, to] = [uploadPaths(dataFolder, secret), uploadPaths(dataFolder, other)];
  await mkdir(to.folder, { recursive: true, mode: 0o700 });
  try {
    // The sweep keeps young files even without a row.
    await utimes(from.file, now(), now());
    await link(from.file, to.file).catch((error: unknown) => {
      if (withoutLinks.has(codeOf(error))) return copyFile(from.file, to.file);
      throw error;
    });
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
  await syncFolder(to.folder);
  return true;
}
