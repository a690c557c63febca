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

type Found = { path: string; sha256: Buffer; secret: string | undefined };

/** Names the files by their bytes, and has the uploads with these secrets name them; their old names go last. */
async function adopt(sql: PoolSql, root: string, files: readonly Found[]): Promise<void> {
  const digests = [...new Set(files.map(({ sha256 }) => sha256.toString('hex')))].sort();
  const uploads = files.flatMap(({ secret, sha256 }) =>
    secret === undefined ? [] : [{ secret, sha256: sha256.toString('hex') }],
  );
  await sql.begin(async (tx) => {
    // The files are old: without the lock, the sweep of another process that shares the store would take them.
    await tx`insert into blobs as b (sha256, created_at)
      select decode(name, 'hex'), ${now()} from unnest(${digests}::text[]) as named (name)
      on conflict (sha256) do update set created_at = b.created_at`;
    for (const { path, sha256 } of files) await placeDraft(root, path, sha256.toString('hex'));
    if (uploads.length > 0)
      await tx`update uploads u set sha256 = decode(f.sha256, 'hex')
        from unnest(${uploads.map(({ secret }) => secret)}::text[], ${uploads.map(({ sha256 }) => sha256)}::text[]) f (secret, sha256)
        where u.secret = f.secret`;
  });
  for (const { path } of files) await unlink(path);
}

/** What cannot be removed since it is not empty is not ours. */
const removeFolder = (folder: string): Promise<void> => rmdir(folder).catch(() => undefined);

/** Of one transaction. */
const BATCH = 100;
const TOLD_EACH = 10_000;

/**
 * What no row names goes with the next sweep. `tell` hears of files that cannot be read, which stay where they are (of a million
 * files, one on a bad part of the disk does not keep the program from starting), and how many were moved.
 */
export async function adoptFiles(
  sql: PoolSql,
  { data, files: filesFolder }: { data: string; files: string },
  tell: (line: string) => void,
): Promise<void> {
  const root = join(filesFolder, 'blobs');
  let moved = 0;
  // Those of `ci` may have been moved to the other folder by then.
  const places = [...new Set([data, filesFolder])].flatMap((place) =>
    FOLDERS.map((kind) => ({ kind, folder: join(place, kind) })),
  );
  for (const { kind, folder } of places) {
    if (!existsSync(folder)) continue;
    for (const part of (await readdir(folder)).filter((name) => PART.test(name))) {
      const names = await readdir(join(folder, part));
      for (let start = 0; start < names.length; start += BATCH) {
        const files: Found[] = [];
        for (const name of names.slice(start, start + BATCH)) {
          const path = join(folder, part, name);
          // An upload that was cut off.
          const isDraft = name.startsWith('.');
          if (isDraft) await unlink(path);
          const sha256 = isDraft ? undefined : await digestOf(path).catch(() => undefined);
          if (sha256) files.push({ path, sha256, secret: kind === UPLOADS ? name : undefined });
          else if (!isDraft) tell(`${path} cannot be read: it stays there until a start at which it can`);
        }
        await adopt(sql, root, files);
        if (Math.floor(moved / TOLD_EACH) < Math.floor((moved + files.length) / TOLD_EACH))
          tell(`${moved + files.length} files of an earlier version are moved`);
        moved += files.length;
      }
      await removeFolder(join(folder, part));
    }
    await removeFolder(folder);
  }
}
