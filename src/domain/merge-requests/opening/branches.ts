/** The branches of a merge request: which may be merged into which, and what they are now. */
import { type AuthorizedProject, authorizeProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Database, Db } from '../../../platform/db/database.ts';
import { Failure, invalid } from '../../../platform/failure.ts';
import { isRefName } from '../../../platform/git/names.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { findBranch } from '../../../platform/git/refs.ts';
import { areRelated, projectRepository } from '../../repositories/index.ts';
import { readMessages } from '../closing/messages.ts';
import { ownersOfVersion } from '../code-owners/owner-rules.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { judge } from '../versions/judge.ts';
import { type Heads, readVersion } from '../versions/read-version.ts';
import { releaseCommit } from '../versions/set-refs.ts';
import { sourceHead } from '../versions/source-head.ts';
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

/** Fails unless the one can be merged into the other, if both are there (facts: Creation). */
export async function checkBranches(
  db: Db,
  { sourceProjectId, sourceBranch, target, targetBranch }: Branches,
): Promise<void> {
  if (!isRefName(sourceBranch)) throw wrong('source_branch', 'is invalid');
  if (!isRefName(targetBranch)) throw wrong('target_branch', 'is invalid');
  if (sourceProjectId === target.id) {
    if (sourceBranch !== targetBranch) return;
    throw new Failure('unprocessable', ["You can't use same project/branch for source and target"]);
  }
  if (sourceProjectId !== null && !(await areRelated(db, sourceProjectId, target.id)))
    throw new Failure('unprocessable', ['Source project is not a fork of the target project']);
}

/**
 * While it is open, what is pushed to the source is shared with its readers; what was pushed since it was closed is not. 400 as for
 * a missing branch unless the actor may read the source.
 */
export async function requireReadableSource(
  { points }: Pick<Database, 'points'>,
  actor: Actor,
  { source_project_id: sourceId, project_id }: MergeRequestRow,
): Promise<void> {
  if (sourceId === null || sourceId === project_id) return;
  await authorizeProject(points, actor, 'read_code', sourceId).catch((error) => {
    if (error instanceof Failure && error.kind !== 'unavailable')
      throw wrong('source_branch', 'does not exist');
    throw error;
  });
}

/** The heads of both; 400 for a branch that does not exist. */
async function headsOf(services: Needs<'repositories'>, git: GitFolder, branches: Branches): Promise<Heads> {
  const { sourceProjectId, sourceBranch, target, targetBranch } = branches;
  const onto = await findBranch(git, targetBranch);
  if (!onto) throw wrong('target_branch', 'does not exist');
  const source =
    sourceProjectId === null
      ? undefined
      : await sourceHead(services, git, target.id, { projectId: sourceProjectId, branch: sourceBranch });
  if (source === undefined) throw wrong('source_branch', 'does not exist');
  return { source, target: onto.oid };
}

/** A new version, judged. 400 for a branch that does not exist. */
export async function openVersion(
  services: Needs<'repositories'>,
  branches: Branches,
): Promise<OpenedVersion> {
  const { sourceProjectId, target } = branches;
  const { repositories } = services;
  const key = projectRepository(target.id);
  const work = async (git: GitFolder): Promise<OpenedVersion> => {
    const heads = await headsOf(services, git, branches);
    try {
      const version = await readVersion(git, heads);
      const [judgement, owners, messages] = await Promise.all([
        judge(git, heads, { hasCommits: version.commits.length > 0, isBehind: version.isBehind }),
        ownersOfVersion(git, version),
        branches.targetBranch === target.row.default_branch ? readMessages(git, version.commits) : [],
      ]);
      return { version, judgement, owners, messages };
    } catch (error) {
      if (sourceProjectId !== target.id) await releaseCommit(git, heads.source);
      throw error;
    }
  };
  // What a fork has is copied.
  const opened =
    sourceProjectId === target.id
      ? await repositories.read(key, target.row.repository_storage, work)
      : await repositories.write(key, target.row.default_branch ?? 'main', work);
  if (!opened) throw wrong('source_branch', 'does not exist');
  return opened;
}
