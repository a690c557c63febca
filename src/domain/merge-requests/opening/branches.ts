/** The branches of a merge request: which may be merged into which, and what they are now. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import { Failure, invalid } from '../../../platform/failure.ts';
import { isRefName } from '../../../platform/git/names.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { findBranch } from '../../../platform/git/refs.ts';
import { areRelated, projectRepository } from '../../repositories/index.ts';
import { judge } from '../mergeability/judge.ts';
import { type Heads, readVersion } from '../versions/read-version.ts';
import type { OpenedVersion } from '../writing/version-actions.ts';

export type Branches = {
  /** Null where the fork is gone. */
  sourceProjectId: number | null;
  sourceBranch: string;
  target: AuthorizedProject;
  targetBranch: string;
};

/** 400 under the parameter's name. */
const wrong = (end: 'source_branch' | 'target_branch', text: string): Failure => invalid({ [end]: [text] });

/** Fails unless the one can be merged into the other (facts: Creation). */
export async function checkBranches(
  db: Db,
  source: AuthorizedProject,
  { sourceBranch, target, targetBranch }: Branches,
): Promise<void> {
  if (!isRefName(sourceBranch)) throw wrong('source_branch', 'is invalid');
  if (!isRefName(targetBranch)) throw wrong('target_branch', 'is invalid');
  if (source.id === target.id) {
    if (sourceBranch !== targetBranch) return;
    throw new Failure('unprocessable', ["You can't use same project/branch for source and target"]);
  }
  if (!(await areRelated(db, source.id, target.id)))
    throw new Failure('unprocessable', ['Source project is not a fork of the target project']);
}

/** The heads of both; 400 for a branch that does not exist. */
async function headsOf(source: GitFolder, target: GitFolder, branches: Branches): Promise<Heads> {
  const [head, onto] = await Promise.all([
    findBranch(source, branches.sourceBranch),
    findBranch(target, branches.targetBranch),
  ]);
  if (!head) throw wrong('source_branch', 'does not exist');
  if (!onto) throw wrong('target_branch', 'does not exist');
  return { source: head.oid, target: onto.oid };
}

/** The first version, judged. 400 for a branch that does not exist. */
export async function openVersion(
  { repositories }: Needs<'repositories'>,
  branches: Branches,
): Promise<OpenedVersion> {
  const { target } = branches;
  const opened = await repositories.read(
    projectRepository(target.id),
    target.row.repository_storage,
    async (git) => {
      const heads = await headsOf(git, git, branches);
      const version = await readVersion(git, heads);
      return { version, judgement: await judge(git, heads, version.commits.length > 0) };
    },
  );
  if (!opened) throw wrong('source_branch', 'does not exist');
  return opened;
}
