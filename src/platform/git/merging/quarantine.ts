/**
 * Objects set apart until it is known whether they are wanted, as git does with those of a push: runs of git
 * store theirs in a folder beside the repository's, which becomes the repository's or goes away. A merge that
 * is only tried leaves nothing behind, and syncs nothing.
 */
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import { randomHex } from '../../secret.ts';
import { eachOf, objectFiles } from '../copies/copy.ts';
import { objectsOf } from '../history/history.ts';
import type { NewObject } from '../parse.ts';
import { NoRepository } from '../program/program.ts';
import { syncObjectNames } from '../write.ts';

export type Quarantine = {
  /** For runs of git that store objects here, and read those of the repository too. */
  place: { folder: string; environment: Record<string, string> };
  /** Adds objects that only these runs need: they are never kept. */
  lend(objects: readonly NewObject[]): Promise<void>;
  /** Adds objects that are kept like those of git, which does not check them. */
  add(objects: readonly NewObject[]): Promise<void>;
  /** Makes what is stored here the repository's; durable when it returns. */
  keep(): Promise<void>;
};

// promisify() picks the overload with options.
const compress = promisify(deflate) as (content: Buffer) => Promise<Buffer>;

/** The name of an object's file below `objects`. */
const fileOf = (oid: string): string => `${oid.slice(0, 2)}/${oid.slice(2)}`;

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** Runs `work` with a quarantine in the repository, which goes away when it ends. */
export async function withQuarantine<T>(folder: string, work: (apart: Quarantine) => Promise<T>): Promise<T> {
  const objects = join(folder, 'objects');
  // git's own name for such folders: `git prune` removes those that a killed process left.
  const apart = join(objects, `tmp_objdir-merge-${randomHex(8)}`);
  await mkdir(apart, { mode: 0o700 }).catch((error: unknown) => {
    throw isMissing(error) ? new NoRepository(folder) : error;
  });
  const lent = new Set<string>();
  const write = async ({ oid, type, content }: NewObject): Promise<void> => {
    await mkdir(join(apart, oid.slice(0, 2)), { recursive: true, mode: 0o700 });
    const whole = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
    await writeFile(join(apart, fileOf(oid)), await compress(whole), { mode: 0o444 });
  };
  try {
    return await work({
      place: {
        folder,
        environment: { ...objectsOf(folder), GIT_OBJECT_DIRECTORY: apart },
      },
      lend: (added) =>
        eachOf(added, async (object) => {
          if (lent.has(fileOf(object.oid))) return;
          lent.add(fileOf(object.oid));
          await write(object);
        }),
      add: (added) => eachOf(added, write),
      async keep() {
        const { loose } = await objectFiles(apart);
        const kept = loose.filter((name) => !lent.has(name));
        await eachOf(kept, (name) => moveSynced(join(apart, name), join(objects, name)));
        await syncObjectNames(folder, kept.map(dirname));
      },
    });
  } finally {
    await rm(apart, { recursive: true, force: true });
  }
}

/** Stores commits that were made here; durable when it returns. */
export const storeCommits = (folder: string, commits: readonly NewObject[]): Promise<void> =>
  withQuarantine(folder, async ({ add, keep }) => {
    await add(commits);
    await keep();
  });

/** Attempts to move a file while a repack may remove the empty folder. */
const MAX_MOVES = 5;

async function moveSynced(from: string, to: string): Promise<void> {
  const file = await open(from);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
  for (let move = 1; ; move++) {
    try {
      return await rename(from, to);
    } catch (error) {
      if (!isMissing(error) || move === MAX_MOVES) throw error;
      await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    }
  }
}
