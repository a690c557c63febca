/** Finds the code owners file of a commit, and reads it where that is possible in time (facts: merge requests §6.4). */
import type { GitFolder, ObjectInfo } from '../../../platform/git/objects.ts';
import { decode } from '../../../platform/git/parse.ts';
import { type CodeOwnersEntry, entriesOwning, parseCodeOwners } from './code-owners.ts';

/** The first that is there counts. */
const PLACES = ['CODEOWNERS', 'docs/CODEOWNERS', '.gitlab/CODEOWNERS'] as const;

const MAX_BYTES = 262_144;

export type CodeOwners = {
  path: string;
  /** The id of its contents. */
  oid: string;
  /** The entries that own one of the paths; undefined where the file, or looking them up, is too much to tell. */
  owning(paths: readonly string[]): Promise<CodeOwnersEntry[] | undefined>;
};

/** The file in a commit, which is read when it is asked, once; undefined without one. */
export async function findCodeOwners(git: GitFolder, commit: string): Promise<CodeOwners | undefined> {
  for (const path of PLACES) {
    const info = await git.info(`${commit}:${path}`);
    if (info?.type !== 'blob') continue;
    let reading: ReturnType<typeof readFile> | undefined;
    return {
      path,
      oid: info.oid,
      async owning(paths) {
        reading ??= readFile(git, info);
        const file = await reading;
        return file && entriesOwning(file, paths);
      },
    };
  }
  return undefined;
}

async function readFile(git: GitFolder, info: ObjectInfo) {
  if (info.size > MAX_BYTES) return undefined;
  const blob = await git.read(info.oid, info);
  // No text of the database has this character.
  return parseCodeOwners(decode(blob?.content ?? Buffer.alloc(0)).replaceAll('\0', '\uFFFD'));
}
