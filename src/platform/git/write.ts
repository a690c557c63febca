/** Writes: new objects as one pack, refs in one transaction that compares with what they were, and new repositories. */

import { createHash } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import { randomHex } from '../secret.ts';
import { NO_OBJECT } from './names.ts';
import type { GitFolder } from './objects.ts';
import type { NewObject } from './parse.ts';
import { GitError, git } from './program.ts';

/** A change of a ref from one id to another; NO_OBJECT where there is none. */
export type RefUpdate = { ref: string; before: string; after: string };

// Of its overloads, promisify() sees the one with options.
const compress = promisify(deflate) as (content: Buffer) => Promise<Buffer>;
const typeNumbers = { commit: 1, tree: 2, blob: 3, tag: 4 } as const;

/** Type and size, seven bits at a time, as a pack has them. */
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

/** A pack of the objects, each whole. */
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

/** Stores the objects, synced to the disk; nothing points to them yet. */
export async function storeObjects(folder: string, objects: readonly NewObject[]): Promise<void> {
  if (objects.length === 0) return;
  // A pack that has an object twice is refused.
  const each = [...new Map(objects.map((object) => [object.oid, object])).values()];
  await git(['unpack-objects', '-q', '--strict'], { folder, input: await packOf(each) });
}

/** A ref was not what the update says it was, or another process is changing it. */
export class RefMoved extends Error {}

/** Changes all the refs or none; throws RefMoved when one of them is no longer what it was. */
export async function updateRefs(folder: string, updates: readonly RefUpdate[]): Promise<void> {
  const lines = updates.map(({ ref, before, after }) =>
    after === NO_OBJECT ? `delete ${ref} ${before}\n` : `update ${ref} ${after} ${before}\n`,
  );
  try {
    await git(['update-ref', '--stdin'], { folder, input: `start\n${lines.join('')}prepare\ncommit\n` });
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    const moved =
      /but expected|reference already exists|Unable to create .*\.lock|unable to resolve reference|cannot lock ref/i;
    if (moved.test(error.stderr)) throw new RefMoved(error.stderr.trim());
    throw error;
  }
}

/** Objects first, then the refs. */
export async function writeAll(
  git: GitFolder,
  objects: readonly NewObject[],
  updates: readonly RefUpdate[],
): Promise<void> {
  await storeObjects(git.folder, objects);
  await updateRefs(git.folder, updates);
}

/** Writes a file whole and synced; its name is not synced yet. */
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
  const folder = await open(path);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

const config = '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n';

/** Makes the folders and files of an empty bare repository where there is nothing yet; `head` is the whole text of HEAD. */
export async function layOut(folder: string, head: string): Promise<void> {
  await mkdir(join(folder, 'objects', 'pack'), { recursive: true, mode: 0o700 });
  await mkdir(join(folder, 'objects', 'info'), { mode: 0o700 });
  await mkdir(join(folder, 'refs', 'heads'), { recursive: true, mode: 0o700 });
  await mkdir(join(folder, 'refs', 'tags'), { mode: 0o700 });
  await writeSynced(join(folder, 'config'), config);
  await writeSynced(join(folder, 'HEAD'), head);
  await syncFolder(folder);
}

/** Makes an empty bare repository at once and whole; one that is there already stays as it is. */
export async function createRepository(folder: string, defaultBranch: string): Promise<void> {
  const parent = dirname(folder);
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const draft = join(parent, `.new-${randomHex(8)}`);
  await layOut(draft, `ref: refs/heads/${defaultBranch}\n`);
  try {
    await rename(draft, folder);
    await syncFolder(parent);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    const { code } = error as { code?: string };
    // Somebody else was first.
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
  }
}

/** Points HEAD to a branch, which need not exist yet. The name has been looked at. */
export async function setHead(folder: string, branch: string): Promise<void> {
  const draft = join(folder, `HEAD-${randomHex(8)}`);
  await writeSynced(draft, `ref: refs/heads/${branch}\n`);
  await rename(draft, join(folder, 'HEAD'));
  await syncFolder(folder);
}
