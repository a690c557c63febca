/** Where uploaded files are on disk: each under its secret, which nobody chose, so that no name that was sent is ever a path. */
import { copyFile, link, mkdir, open, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { now } from '../platform/clock.ts';

const SECRET = /^[0-9a-f]{32}$/;

/** The folder of all of them. */
export const uploadsFolder = (dataFolder: string): string => join(dataFolder, 'uploads', 'files');

/** Where the file of that secret is, or would be. */
export function uploadPaths(dataFolder: string, secret: string): { folder: string; file: string } {
  if (!SECRET.test(secret)) throw new Error('not the name of an uploaded file');
  const folder = join(uploadsFolder(dataFolder), secret.slice(0, 2));
  return { folder, file: join(folder, secret) };
}

/** Waits until the folder's names are on the disk. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | null)?.code;

/** Of file systems on which a file has one name. */
const withoutLinks = new Set<unknown>(['EPERM', 'EXDEV', 'ENOTSUP', 'ENOSYS', 'EMLINK']);

/**
 * Keeps the file of one secret under another too, and returns whether there was one. What is in a file never changes, so both
 * are the same bytes on the disk, until each is removed for itself.
 */
export async function keepUnderAnother(dataFolder: string, secret: string, other: string): Promise<boolean> {
  const [from, to] = [uploadPaths(dataFolder, secret), uploadPaths(dataFolder, other)];
  await mkdir(to.folder, { recursive: true, mode: 0o700 });
  try {
    // Young files are kept though no row tells of them yet.
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
