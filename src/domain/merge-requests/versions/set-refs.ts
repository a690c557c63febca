/** Sets the refs of a merge request in the target's repository. What they hold no longer is kept for older versions. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Needs } from '../../../kernel/services.ts';
import { NO_OBJECT } from '../../../platform/git/names.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { readRef } from '../../../platform/git/refs.ts';
import { RefMoved, type RefUpdate, syncRefNames, updateRefs } from '../../../platform/git/write.ts';
import { projectRepository } from '../../repositories/index.ts';
import { fetchedRef, keptRef, sourceRef } from './version-refs.ts';

/** The update of a ref to a commit; undefined where it is there already. */
export async function setting(git: GitFolder, ref: string, oid: string): Promise<RefUpdate | undefined> {
  const before = await readRef(git, ref);
  return before === oid ? undefined : { ref, before: before ?? NO_OBJECT, after: oid };
}

/** The removal of a ref; undefined where there is none. */
async function removing(git: GitFolder, ref: string): Promise<RefUpdate | undefined> {
  const before = await readRef(git, ref);
  return before === undefined ? undefined : { ref, before, after: NO_OBJECT };
}

const MAX_ATTEMPTS = 5;

/**
 * Points the source ref to the head, and keeps what it pointed to; what came from a fork needs no other ref then. Run again, it changes nothing. The head is read after the
 * ref: of two that run at once, the one that is later sets the later head.
 */
export async function setSourceRef(
  git: GitFolder,
  iid: number,
  readHead: () => Promise<string | null> | string | null,
): Promise<void> {
  const ref = sourceRef(iid);
  for (let attempts = 1; ; attempts++) {
    const before = (await readRef(git, ref)) ?? NO_OBJECT;
    const after = await readHead();
    if (after === null) return;
    if (after === before) return releaseCommit(git, after);
    const kept = before === NO_OBJECT ? undefined : await setting(git, keptRef(iid, before), before);
    try {
      return await setRefs(git, [{ ref, before, after }, kept, await removing(git, fetchedRef(after))]);
    } catch (error) {
      if (!(error instanceof RefMoved) || attempts === MAX_ATTEMPTS) throw error;
    }
  }
}

/** Changes all of them or none; durable when it returns. */
export async function setRefs(git: GitFolder, all: readonly (RefUpdate | undefined)[]): Promise<void> {
  const updates = all.filter((update) => update !== undefined);
  if (updates.length === 0) return;
  await updateRefs(git.folder, updates);
  await syncRefNames(
    git.folder,
    updates.map(({ ref }) => ref),
  );
}

/** Lets go of a commit that was brought and has another holder now, or none; housekeeping prunes it only after a time. */
export async function releaseCommit(git: GitFolder, oid: string): Promise<void> {
  try {
    await setRefs(git, [await removing(git, fetchedRef(oid))]);
  } catch (error) {
    // Another request let it go at the same time.
    if (!(error instanceof RefMoved)) throw error;
  }
}

/** Lets go of what was brought from another project for a version that is not made. */
export async function releaseVersion(
  { repositories }: Needs<'repositories'>,
  { id, row }: Pick<AuthorizedProject, 'id' | 'row'>,
  { sourceProjectId, head }: { sourceProjectId: number | null; head: string },
): Promise<void> {
  if (sourceProjectId === id) return;
  await repositories.write(projectRepository(id), row.default_branch ?? 'main', (git) =>
    releaseCommit(git, head),
  );
}

/** The same as setSourceRef(), with the repository held for writing. */
export const writeSourceRef = (
  { repositories }: Needs<'repositories'>,
  project: Pick<AuthorizedProject, 'id' | 'row'>,
  { iid, head_sha }: { iid: number; head_sha: string },
): Promise<void> =>
  repositories.write(projectRepository(project.id), project.row.default_branch ?? 'main', (git) =>
    setSourceRef(git, iid, () => head_sha),
  );

/** Keeps the commits for the merge request, whatever becomes of their branches. */
export async function keepCommits(git: GitFolder, iid: number, oids: readonly string[]): Promise<void> {
  const missing = () => Promise.all(oids.map((oid) => setting(git, keptRef(iid, oid), oid)));
  try {
    await setRefs(git, await missing());
  } catch (error) {
    if (!(error instanceof RefMoved)) throw error;
    // Another request keeps some of them, by the same refs.
    await setRefs(git, await missing());
  }
}
