/** Blobs in a folder: drafts, which have random names, and whole ones. */
import { existsSync } from 'node:fs';
import {
  copyFile,
  type FileHandle,
  link,
  mkdir,
  open,
  readdir,
  rename,
  stat,
  unlink,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from '../failure.ts';
import { randomHex } from '../secret.ts';
import { asBlob, isBlobName, type OpenBlob } from './blob-store.ts';

const BATCH = 500;

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | null)?.code;

/** Resolves with `otherwise` where the file or folder is missing. */
const unlessMissing = <T, O>(work: Promise<T>, otherwise: O): Promise<T | O> =>
  work.catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return otherwise;
    throw error;
  });

/** 503 for a full disk; other errors as they are. */
export const diskFailure = (error: unknown): unknown =>
  codeOf(error) === 'ENOSPC' || codeOf(error) === 'EDQUOT'
    ? new Failure('unavailable', '503 Service Unavailable: no space left on disk', { cause: error })
    : error;

const draftsFolder = (root: string): string => join(root, 'drafts');
/** The file of the draft with this name, 32 hexadecimal digits. */
export function draftPath(root: string, name: string): string {
  if (!/^[0-9a-f]{32}$/.test(name)) throw new Error('not the name of a draft');
  return join(draftsFolder(root), name);
}
/** The file of the blob with this name, 64 hexadecimal digits. */
export function blobPath(root: string, name: string): string {
  if (!isBlobName(name)) throw new Error('not the name of a blob');
  return join(root, name.slice(0, 2), name);
}

/** A new draft, open for writing, and its path. */
export async function createDraft(root: string, name: string): Promise<{ path: string; handle: FileHandle }> {
  await mkdir(draftsFolder(root), { recursive: true, mode: 0o700 });
  const path = draftPath(root, name);
  return { path, handle: await open(path, 'wx', 0o600) };
}

/** Of a file, or of the names in a folder. */
async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Errors of file systems without hard links. */
const withoutLinks = new Set<unknown>(['EPERM', 'EXDEV', 'ENOTSUP', 'ENOSYS', 'EMLINK']);

/** By a draft: only names on one file system change at once, and what is copied may come from another. */
async function copyWhole(root: string, from: string, to: string): Promise<void> {
  if (existsSync(to)) return;
  await mkdir(draftsFolder(root), { recursive: true, mode: 0o700 });
  const copy = draftPath(root, randomHex(16));
  try {
    await copyFile(from, copy);
    await syncPath(copy);
    await rename(copy, to);
  } finally {
    await removeFile(copy);
  }
}

/** Gives a draft that is synced the name of its blob, too, if no file has it; the name is on disk when this resolves. */
export async function placeDraft(root: string, draft: string, name: string): Promise<void> {
  const file = blobPath(root, name);
  const folder = dirname(file);
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  await link(draft, file).catch((error: unknown) => {
    if (codeOf(error) === 'EEXIST') return;
    if (withoutLinks.has(codeOf(error))) return copyWhole(root, draft, file);
    throw error;
  });
  await syncPath(folder);
  if (made !== undefined) await syncPath(root);
}

export const removeFile = (path: string): Promise<void> => unlessMissing(unlink(path), undefined);

/** In bytes. */
export const fileSize = async (path: string): Promise<number> => (await stat(path)).size;

export const isFile = async (path: string): Promise<boolean> =>
  (await unlessMissing(stat(path), undefined)) !== undefined;

/** Whether the file was last written before the time. */
const isOlder = async (path: string, before: Date): Promise<boolean> => {
  const found = await unlessMissing(stat(path), undefined);
  return found !== undefined && found.mtimeMs < before.getTime();
};

async function older(folder: string, names: readonly string[], before: Date): Promise<string[]> {
  const old: string[] = [];
  for (const name of names) if (await isOlder(join(folder, name), before)) old.push(name);
  return old;
}

/** Paths of drafts that nobody wrote to since the time. */
export async function oldDrafts(root: string, before: Date): Promise<string[]> {
  const folder = draftsFolder(root);
  const names = await unlessMissing(readdir(folder), []);
  return (await older(folder, names, before)).map((name) => join(folder, name));
}

/** Names of blobs whose files are older than the time, a batch at a time. */
export async function* oldBlobs(root: string, before: Date): AsyncGenerator<string[]> {
  const parts = (await unlessMissing(readdir(root), [])).filter((name) => /^[0-9a-f]{2}$/.test(name));
  for (const part of parts) {
    const names = (await unlessMissing(readdir(join(root, part)), [])).filter(isBlobName);
    for (let start = 0; start < names.length; start += BATCH)
      yield await older(join(root, part), names.slice(start, start + BATCH), before);
  }
}

/** Undefined where there is no such file. */
export async function openBlobFile(root: string, name: string): Promise<OpenBlob | undefined> {
  const handle = await unlessMissing(open(blobPath(root, name), 'r'), undefined);
  return handle && asBlob(handle);
}
