/** The folder of uploaded files, and files under a second secret. */
import { copyFile, link, mkdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { storedPath, syncFolder } from '../../kernel/files/stored-files.ts';
import { now } from '../../platform/clock.ts';

/** The folder of all uploaded files. */
export const uploadsFolder = (dataFolder: string): string => join(dataFolder, 'uploads', 'files');

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | null)?.code;

/** Errors of file systems without hard links. */
const withoutLinks = new Set<unknown>(['EPERM', 'EXDEV', 'ENOTSUP', 'ENOSYS', 'EMLINK']);

/**
 * Links the file to another secret too, and returns whether it exists. Files never change, so both share
 * their bytes on disk until each is removed.
 */
export async function keepUnderAnother(dataFolder: string, secret: string, other: string): Promise<boolean> {
  const root = uploadsFolder(dataFolder);
  const [from, to] = [storedPath(root, secret), storedPath(root, other)];
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
