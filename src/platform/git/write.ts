/** Writes new objects as one pack, refs in one transaction that compares old values, and new repositories. */

import { createHash } from 'node:crypto';
import { closeSync, fsync, openSync, statSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import { now } from '../clock.ts';
import { randomHex } from '../secret.ts';
import { NO_OBJECT } from './names.ts';
import type { GitFolder } from './objects.ts';
import type { NewObject } from './parse.ts';
import { GitError, git, LONG_RUN_TIMEOUT_MS } from './program/program.ts';

/** A change of a ref from one id to another; NO_OBJECT for none. */
export type RefUpdate = { ref: string; before: string; after: string };

// promisify() picks the overload with options.
const compress = promisify(deflate) as (content: Buffer) => Promise<Buffer>;
const sync = promisify(fsync);
const typeNumbers = { commit: 1, tree: 2, blob: 3, tag: 4 } as const;

/** Type and size, seven bits per byte, as in a pack. */
function entryHeader(type: NewObject['type'], size: number): Buffer {
  const bytes: number[] = [];
  let byte = (typeNumbers[type] << 4) | (size & 15);
  let rest = Math.floor(size / 16);
  while (rest > 0) {
    bytes.push(byte | 128);
    byte = rest & 127;
    rest = Math.floor(rest / 128);
  }
  bytes.push(byte);
  return Buffer.from(bytes);
}

/** A pack of the objects, without deltas. */
export async function packOf(objects: readonly NewObject[]): Promise<Buffer> {
  const head = Buffer.alloc(12);
  head.write('PACK', 'latin1');
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(objects.length, 8);
  const parts: Buffer[] = [head];
  for (const { type, content } of objects)
    parts.push(entryHeader(type, content.length), await compress(content));
  const body = Buffer.concat(parts);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

/** A repack removes folders that are empty at this moment, be it between git's making one and its first file. */
const folderWasRemoved = /unable to create temporary file: No such file or directory/;
/** Each writes all objects up to the one whose folder was removed, and finds those that are there. */
const MAX_ATTEMPTS = 20;

/** Stores the objects, synced to disk; no ref reaches them yet. */
export async function storeObjects(folder: string, objects: readonly NewObject[]): Promise<void> {
  if (objects.length === 0) return;
  // git refuses a pack with an object twice.
  const each = [...new Map(objects.map((object) => [object.oid, object])).values()];
  const input = await packOf(each);
  for (let attempt = 1; ; attempt++)
    try {
      await git(['unpack-objects', '-q', '--strict'], { folder, input });
      return;
    } catch (error) {
      const isOnceMore = error instanceof GitError && folderWasRemoved.test(error.stderr);
      if (!isOnceMore || attempt === MAX_ATTEMPTS) throw error;
    }
}

/** A ref had another value than the update expects, or another process is changing it. */
export class RefMoved extends Error {}

const moved =
  /but expected|reference already exists|Unable to create .*\.lock|unable to resolve reference|cannot lock ref/i;

/** Updates all refs or none; throws RefMoved when one of them has changed. */
export async function updateRefs(folder: string, updates: readonly RefUpdate[]): Promise<void> {
  const lines = updates.map(({ ref, before, after }) =>
    after === NO_OBJECT ? `delete ${ref} ${before}\n` : `update ${ref} ${after} ${before}\n`,
  );
  const run = () =>
    git(['update-ref', '--stdin'], { folder, input: `start\n${lines.join('')}prepare\ncommit\n` });
  try {
    await run();
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    const refs = updates.map(({ ref }) => ref);
    if (/File exists/.test(error.stderr) && (await removeStaleLocks(folder, refs))) await run();
    else if (moved.test(error.stderr)) throw new RefMoved(error.stderr.trim());
    else throw error;
  }
}

/** Milliseconds: any run of git has ended by then, but a push. */
const STALE_LOCK_MS = LONG_RUN_TIMEOUT_MS + 5_000;
/** The same for a push, where nobody can say whether one runs. */
const STALE_PUSH_LOCK_MS = 300_000;

/** Whether a push to the repository runs, be it of another process; undefined where the system does not say. */
async function isPushed(folder: string): Promise<boolean | undefined> {
  const all = await readdir('/proc').catch(() => []);
  const lines = await Promise.all(
    all.map((name) => (/^\d+$/.test(name) ? readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '') : '')),
  );
  if (lines.every((line) => line === '')) return undefined;
  return lines.some((line) => line.includes('\0receive-pack\0') && line.endsWith(`\0${folder}\0`));
}

/** Removes locks of these refs left by a killed git; true when there was one. */
export async function removeStaleLocks(folder: string, refs: readonly string[]): Promise<boolean> {
  const names = [...refs, 'packed-refs', 'HEAD'].map((name) => join(folder, `${name}.lock`));
  const olderThan = (milliseconds: number): string[] => {
    const before = now().getTime() - milliseconds;
    return names.filter((name) => {
      const lock = statSync(name, { throwIfNoEntry: false });
      return lock?.isFile() && lock.mtimeMs <= before;
    });
  };
  if (olderThan(STALE_LOCK_MS).length === 0) return false;
  const pushed = await isPushed(folder);
  if (pushed) return false;
  const stale = olderThan(pushed === undefined ? STALE_PUSH_LOCK_MS : STALE_LOCK_MS);
  await Promise.all(stale.map((name) => rm(name, { force: true })));
  return stale.length > 0;
}

/** Objects first, then the refs; durable when it returns. */
export async function writeAll(
  git: GitFolder,
  objects: readonly NewObject[],
  updates: readonly RefUpdate[],
): Promise<void> {
  await storeObjects(git.folder, objects);
  await syncObjectNames(
    git.folder,
    objects.map(({ oid }) => oid.slice(0, 2)),
  );
  await updateRefs(git.folder, updates);
  await syncRefNames(
    git.folder,
    updates.map(({ ref }) => ref),
  );
}

/** Modification times of synced folders: bounded, as a dropped entry costs only another sync. */
const synced = new Map<string, number>();
const MAX_SYNCED = 20_000;
/** Milliseconds: closer changes may have the same modification time. */
const CLOCK_TICK_MS = 20;
/** Folders checked and open at the same time. */
const AT_ONCE = 300;

/** git syncs files, but not the folders with their names, which a loss of power could undo. */
async function syncNames(folders: Iterable<string>): Promise<void> {
  const names = [...new Set(folders)];
  for (let start = 0; start < names.length; start += AT_ONCE)
    await syncChanged(names.slice(start, start + AT_ONCE));
}

/** Syncs folders that have changed since their last sync: even a needless sync flushes the disk's cache. */
async function syncChanged(folders: readonly string[]): Promise<void> {
  // Synchronous: the thread pool would take ten times as long.
  const found = folders.flatMap((folder) => {
    const changed = statSync(folder, { throwIfNoEntry: false })?.mtimeMs;
    return changed === undefined ? [] : [{ folder, changed }];
  });
  // By the clock of the file system, which may be another machine's: later changes get a later time than
  // these.
  const settled = Math.max(...found.map(({ changed }) => changed)) - CLOCK_TICK_MS;
  if (synced.size > MAX_SYNCED) synced.clear();
  await Promise.all(
    found.map(async ({ folder, changed }) => {
      if (synced.get(folder) === changed) return;
      try {
        await syncFolder(folder);
        if (changed < settled) synced.set(folder, changed);
      } catch (error) {
        // A repack removes empty folders.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
    }),
  );
}

/** Makes the names of objects durable; `parts` are the first two digits of their ids. */
export const syncObjectNames = (folder: string, parts: readonly string[]): Promise<unknown> =>
  syncNames(['', ...parts].map((part) => join(folder, 'objects', part)));

/** Makes the names of changed refs durable. */
export const syncRefNames = (folder: string, refs: readonly string[]): Promise<unknown> =>
  syncNames([folder, ...refs.flatMap((ref) => foldersOf(folder, ref))]);

function foldersOf(folder: string, ref: string): string[] {
  const parts = ref.split('/').slice(0, -1);
  return parts.map((_, index) => join(folder, ...parts.slice(0, index + 1)));
}

/** Makes the names of all objects durable that were stored since then. */
export async function syncNewObjects(folder: string, since: Date): Promise<void> {
  const objects = join(folder, 'objects');
  // File times are coarser than ours.
  const from = since.getTime() - 2_000;
  const names = (await readdir(objects)).filter((name) => name === 'pack' || name.length === 2);
  // Synchronous, as above.
  const isNew = (name: string): boolean =>
    (statSync(join(objects, name), { throwIfNoEntry: false })?.mtimeMs ?? 0) >= from;
  await syncObjectNames(folder, names.filter(isNew));
}

/** Writes and syncs a file, but not its name. */
export async function writeSynced(path: string, text: string | Buffer): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Syncs a folder's list of names. */
export async function syncFolder(path: string): Promise<void> {
  // Only the sync is slow.
  const folder = openSync(path, 'r');
  try {
    await sync(folder);
  } finally {
    closeSync(folder);
  }
}

const config = '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n';

/** Creates an empty bare repository in a new folder; `head` is the whole text of HEAD. */
export async function layOut(folder: string, head: string): Promise<void> {
  await mkdir(join(folder, 'objects', 'pack'), { recursive: true, mode: 0o700 });
  await mkdir(join(folder, 'objects', 'info'), { mode: 0o700 });
  await mkdir(join(folder, 'refs', 'heads'), { recursive: true, mode: 0o700 });
  await mkdir(join(folder, 'refs', 'tags'), { mode: 0o700 });
  await writeSynced(join(folder, 'config'), config);
  await writeSynced(join(folder, 'HEAD'), head);
  await syncNames(['objects', 'refs', '.'].map((part) => join(folder, part)));
}

/** Levels from a repository up to its storage's folder. */
const LEVELS = 4;

/** Creates an empty bare repository atomically; false for an existing one, which stays as it is. */
export async function createRepository(folder: string, defaultBranch: string): Promise<boolean> {
  const parent = dirname(folder);
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const draft = join(parent, `.new-${randomHex(8)}`);
  try {
    await layOut(draft, `ref: refs/heads/${defaultBranch}\n`);
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    const { code } = error as { code?: string };
    // Another process was first.
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false;
    throw error;
  }
  const parents = Array.from({ length: LEVELS }, (_, index) => join(folder, ...Array(index + 1).fill('..')));
  await syncNames(parents);
  return true;
}

/** Points HEAD to a branch, which need not exist yet. The caller has checked the name. */
export async function setHead(folder: string, branch: string): Promise<void> {
  const draft = join(folder, `HEAD-${randomHex(8)}`);
  await writeSynced(draft, `ref: refs/heads/${branch}\n`);
  await rename(draft, join(folder, 'HEAD'));
  await syncFolder(folder);
}
