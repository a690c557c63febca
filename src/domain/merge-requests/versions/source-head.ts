/** The newest commit of a source branch, with its objects in the target's repository. */
import type { Needs } from '../../../kernel/services.ts';
import { fetchRef } from '../../../platform/git/copies/fetch.ts';
import { NO_OBJECT } from '../../../platform/git/names.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { findBranch, readRef } from '../../../platform/git/refs.ts';
import { RefMoved } from '../../../platform/git/write.ts';
import { projectRepository } from '../../repositories/index.ts';
import { fetchedRef } from './version-refs.ts';

export type SourceBranch = { projectId: number; branch: string };

/**
 * Copies a commit with what it needs, unless it is there, by this ref or that of one who brought it; another that does so at the
 * same time may be faster.
 */
export async function bringCommit(
  source: GitFolder,
  target: GitFolder,
  oid: string,
  holder?: string,
): Promise<void> {
  if (holder !== undefined && (await readRef(target, holder)) === oid) return;
  const ref = fetchedRef(oid);
  if (await readRef(target, ref)) return;
  try {
    await fetchRef(source.folder, target.folder, { ref, before: NO_OBJECT, after: oid });
  } catch (error) {
    if (!(error instanceof RefMoved) || !(await readRef(target, ref))) throw error;
  }
}

/** Undefined without such a branch. `holder` is a ref of the target that may have it already. Of a fork, the target is to be held for writing; nothing of it goes the other way. */
export async function sourceHead(
  { repositories }: Needs<'repositories'>,
  target: GitFolder,
  targetProjectId: number,
  { projectId, branch }: SourceBranch,
  holder?: string,
): Promise<string | undefined> {
  if (projectId === targetProjectId) return (await findBranch(target, branch))?.oid;
  const source = await repositories.locate(projectRepository(projectId), 'read');
  const head = source && (await findBranch(source, branch));
  if (!head) return undefined;
  await bringCommit(source, target, head.oid, holder);
  return head.oid;
}
