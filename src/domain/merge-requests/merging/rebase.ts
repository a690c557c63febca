/** Rebases the source branch upon the target, without a checkout (facts: Rebase). */
import { type AuthorizedProject, authorizeProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { conflict, Failure, forbidden } from '../../../platform/failure.ts';
import { rebaseCommits } from '../../../platform/git/merging/rebase.ts';
import { fullRef } from '../../../platform/git/names.ts';
import { findBranch } from '../../../platform/git/refs.ts';
import {
  authorOf,
  guardRefs,
  projectRepository,
  signatureOf,
  writeProject,
} from '../../repositories/index.ts';
import { refresh } from '../following/refresh.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { releaseVersion } from '../versions/set-refs.ts';
import { bringCommit } from '../versions/source-head.ts';
import { setMergeError } from '../writing/merge-actions.ts';

type RebaseContext = {
  services: Needs<'config' | 'database' | 'settings' | 'repositories' | 'baseUrl'>;
  settings: ApplicationSettings;
  actor: Actor;
};

type RightsContext = { services: Needs<'database'>; settings: ApplicationSettings; actor: Actor };

const FAILED = 'Rebase failed: Rebase locally, resolve all conflicts, then push the branch.';

/** Fails unless the caller may force-push the source branch of an open merge request. */
async function requireRebase(
  { services, settings, actor }: RightsContext,
  source: AuthorizedProject,
  { state, source_branch }: MergeRequestRow,
): Promise<void> {
  const guard = await guardRefs(services.database.db, source, actor, settings);
  if (!source.may('push_code') || !guard.mayPush(source_branch))
    throw forbidden('Cannot push to source branch');
  if (!guard.mayForce(source_branch)) throw forbidden('Source branch is protected from force push');
  if (state !== 'opened') throw conflict('409 Conflict: Resource lock');
}

/** Makes the commits of the source again upon the target; a conflict is told in `merge_error`. */
async function rebaseSource(
  context: RebaseContext,
  { source, target }: { source: AuthorizedProject; target: AuthorizedProject },
  row: MergeRequestRow,
  skipsPipeline: boolean,
): Promise<void> {
  const { services, settings, actor } = context;
  const onto = row.judged_target_sha ?? '';
  const isRebased = await writeProject<boolean>(services, settings, actor, source, async (git) => {
    const head = await findBranch(git, row.source_branch);
    if (!head) throw forbidden('Source branch does not exist');
    if (source.id !== target.id) {
      const other = await services.repositories.locate(projectRepository(target.id), 'read');
      if (other) await bringCommit(other, git, onto);
    }
    const rebased = await rebaseCommits(git, {
      onto,
      head: head.oid,
      committer: signatureOf(authorOf(actor)),
    });
    if (rebased.result !== 'rebased' || rebased.head === head.oid)
      return { objects: [], updates: [], value: rebased.result === 'rebased' };
    const update = { ref: fullRef('branch', row.source_branch), before: head.oid, after: rebased.head };
    const options = skipsPipeline ? ['ci.skip'] : [];
    return { objects: rebased.objects, updates: [update], value: true, options };
  }).finally(() => releaseVersion(services, source, { sourceProjectId: target.id, head: onto }));
  const error = isRebased ? null : FAILED;
  if (error !== row.merge_error) await setMergeError(services.database.db, row.id, error);
}

/** Who does not see the source pushes nothing to it. */
const cannotPush = (error: unknown): never => {
  if (error instanceof Failure && error.kind !== 'unavailable')
    throw forbidden('Cannot push to source branch');
  throw error;
};

/** The source of a merge request that the caller may rebase; 403 or 409 where it may not be. */
async function findSource(
  context: RightsContext,
  target: AuthorizedProject,
  row: MergeRequestRow,
): Promise<AuthorizedProject> {
  const { services, actor } = context;
  const { source_project_id: sourceId } = row;
  if (sourceId === null) throw forbidden('Source branch does not exist');
  const source =
    sourceId === target.id
      ? target
      : await authorizeProject(services.database.points, actor, 'read_project', sourceId).catch(cannotPush);
  await requireRebase(context, source, row);
  return source;
}

/** Whether the caller may rebase it now. */
export const mayRebase = (
  context: RightsContext,
  target: AuthorizedProject,
  row: MergeRequestRow,
): Promise<boolean> =>
  findSource(context, target, row).then(
    () => true,
    (error) => {
      if (error instanceof Failure && error.kind !== 'unavailable') return false;
      throw error;
    },
  );

/** Rebases it upon what the target branch is now; a conflict is told in `merge_error`. Its branch’s pipeline may be skipped. */
export async function rebaseMergeRequest(
  context: RebaseContext,
  target: AuthorizedProject,
  found: MergeRequestRow,
  skipsPipeline = false,
): Promise<void> {
  const source = await findSource(context, target, found);
  const row = await refresh(context.services, target, found);
  await rebaseSource(context, { source, target }, row, skipsPipeline);
}
