/**
 * Moves the files that were kept in folders of their own, before all were blobs, into the store. Runs at each start, under the
 * lock of migrations, until those folders are gone; what was cut off goes on at the next one.
 */
import { createReadStream, existsSync } from 'node:fs';
import { readdir, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { placeDraft } from '../../platform/blobs/blob-files.ts';
import { now } from '../../platform/clock.ts';
import type { PoolSql } from '../../platform/db/driver/sql.ts';
import { startDigest } from '../../platform/secret.ts';

const UPLOADS = join('uploads', 'files');
/** Of files of the texts, artifacts, secure files and pictures. Each has folders of two digits, and those have the files. */
const FOLDERS = [UPLOADS, join('ci', 'artifacts'), join('ci', 'secure-files'), 'uploads'];
const PART = /^[0-9a-f]{2}$/;

async function digestOf(path: string): Promise<Buffer> {
  const hash = startDigest();
  await pipeline(createReadStream(path), hash);
  return hash.digest();
}

/** Names the file by its bytes, and has the upload with this secret name it; its old name goes last. */
async function adopt(
  sql: PoolSql,
  root: string,
  { path, sha256, secret }: { path: string; sha256: Buffer; secret: string | undefined },
): Promise<void> {
  await sql.begin(async (tx) => {
    // The file is old: without the lock, the sweep of another process that shares the store would take it.
    await tx`insert into blobs as b (sha256, created_at) values (${sha256}, ${now()})
      on conflict (sha256) do update set created_at = b.created_at`;
    await placeDraft(root, path, sha256.toString('hex'));
    if (secret !== undefined) await tx`update uploads set sha256 = ${sha256} where secret = ${secret}`;
  });
  await unlink(path);
}

/** What cannot be removed since it is not empty is not ours. */
const removeFolder = (folder: string): Promise<void> => rmdir(folder).catch(() => undefined);

/**
 * What no row names goes with the next sweep. Resolves with the paths of files that cannot be read, which stay where they are:
 * of a million files, one on a bad part of the disk does not keep the program from starting.
 */
export async function adoptFiles(sql: PoolSql, dataFolder: string): Promise<string[]> {
  const root = join(dataFolder, 'blobs');
  const unreadable: string[] = [];
  for (const kind of FOLDERS) {
    const folder = join(dataFolder, kind);
    if (!existsSync(folder)) continue;
    for (const part of (await readdir(folder)).filter((name) => PART.test(name))) {
      for (const name of await readdir(join(folder, part))) {
        const path = join(folder, part, name);
        // An upload that was cut off.
        if (name.startsWith('.')) {
          await unlink(path);
          continue;
        }
        const sha256 = await digestOf(path).catch(() => undefined);
        if (sha256) await adopt(sql, root, { path, sha256, secret: kind === UPLOADS ? name : undefined });
        else unreadable.push(path);
      }
      await removeFolder(join(folder, part));
    }
    await removeFolder(folder);
  }
  return unreadable;
}
