/** Repositories of archives: prepared from their bundles before the rows of the import, and in their place with them. */
import type { RepositoryKey } from '../../../kernel/repository-store.ts';
import type { Needs } from '../../../kernel/services.ts';
import { type PreparedRepository, prepareFromBundle } from '../../../platform/git/copies/bundle.ts';
import { allRefs } from '../../../platform/git/copies/copy.ts';
import { isRefName } from '../../../platform/git/names.ts';
import { setHead } from '../../../platform/git/write.ts';
import type { UnpackedFile } from '../archive/unpack.ts';

export type Prepared = {
  /** The branch that HEAD names; undefined where there is none. */
  branch: string | undefined;
  /** Takes the place of what is there; once. */
  place(): Promise<void>;
};

const branchesOf = (refs: string): string[] =>
  refs.split('\n').flatMap((line) => {
    const [, name] = / refs\/heads\/(.+)$/.exec(line) ?? [];
    return name === undefined ? [] : [Buffer.from(name, 'latin1').toString('utf8')];
  });

/** The wished branch where it is there, else a usual one, else the first. */
export const chooseBranch = (branches: readonly string[], wished: string | undefined): string | undefined =>
  [wished, 'main', 'master'].find((name) => name !== undefined && branches.includes(name)) ?? branches[0];

/** Runs `work` with the repository prepared; it is discarded where `work` does not place it. */
export async function withPrepared<T>(
  { repositories }: Needs<'repositories'>,
  key: RepositoryKey,
  bundle: UnpackedFile | undefined,
  wished: string | undefined,
  work: (prepared: Prepared | undefined) => Promise<T>,
): Promise<T> {
  if (!bundle) return work(undefined);
  // An archive may wish for anything, and the name becomes a line of the file HEAD.
  const first = wished !== undefined && isRefName(wished) ? wished : 'main';
  const result = await repositories.write(key, first, async (git) => {
    const prepared: PreparedRepository = await prepareFromBundle(bundle.path, git.folder);
    try {
      const branch = chooseBranch(branchesOf(await allRefs(prepared.folder)), wished);
      if (branch !== undefined) await setHead(prepared.folder, branch);
      let placed: Promise<void> | undefined;
      const place = () => {
        placed ??= prepared.place();
        return placed;
      };
      return await work({ branch, place });
    } finally {
      await prepared.discard();
    }
  });
  // Readers have the files of before.
  for (const storage of repositories.storages.keys()) repositories.forget(key, storage);
  return result;
}
