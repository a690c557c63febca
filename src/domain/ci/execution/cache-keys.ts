/** The keys of caches that change with files (facts for CI: Job keywords, cache). */

import { Failure } from '../../../platform/failure.ts';
import { lastCommitOf } from '../../../platform/git/history/last-commit.ts';
import { pathComponents } from '../../../platform/git/names.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import { entryType, findEntry } from '../../../platform/git/trees.ts';
import { sha1 } from '../../../platform/secret.ts';
import type { PlannedCache } from '../file/plan.ts';

/** The key of each cache at the job's commit, in their order. */
export const cacheKeys = (
  git: GitFolder,
  commit: Commit,
  caches: readonly Pick<PlannedCache, 'key'>[],
): Promise<string[]> =>
  Promise.all(
    caches.map(async ({ key }, index) => {
      if (typeof key === 'string') return key;
      const idOf = key.of === 'contents' ? contentOf : lastCommitOf;
      const ids = await Promise.all(
        key.files.map(async (file) => {
          const path = pathComponents(file.split('/').filter(Boolean).join('/'));
          return path && idOf(git, commit, path).catch(noneWhereRefused);
        }),
      );
      return keyOfFiles(key, index, ids);
    }),
  );

/** A job is not lost for a cache: one of a file that is too much to look for, or not now, is the default. */
function noneWhereRefused(error: unknown): undefined {
  if (!(error instanceof Failure)) throw error;
}

/** `ids` are undefined where there is no such file. */
export function keyOfFiles(
  { files, prefix }: { files: readonly string[]; prefix: string | null },
  index: number,
  ids: readonly (string | undefined)[],
): string {
  const names = files.map((file) => file.replace(/\.[^./]*$/, '')).join('_');
  const found = [...new Set(ids.filter((id) => id !== undefined))].toSorted();
  const digest = found.length > 0 ? sha1(found.join('-')).toString('hex') : 'default';
  return `${prefix ?? `${index}_${names}`}-${digest}`;
}

async function contentOf(
  git: GitFolder,
  { tree }: Commit,
  path: readonly string[],
): Promise<string | undefined> {
  const entry = await findEntry(git, tree, path);
  return entry && entryType(entry) === 'blob' ? entry.oid : undefined;
}
