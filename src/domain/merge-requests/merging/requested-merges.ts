/** Merges and rebases that a quick action requests: a job does them when the text is written, with the rights of its author. */
import { type AuthorizedProject, authorizeProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { Db } from '../../../platform/db/database.ts';
import { addJobs, type Task } from '../../../platform/jobs/jobs.ts';
import { findActor } from '../../conversation/index.ts';
import { selectMergeRequest } from '../records/find-queries.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { type AfterServices, unlessRefused } from './after-merge.ts';
import { type MergeContext, mergeMergeRequest } from './merge.ts';
import { rebaseMergeRequest } from './rebase.ts';

export const REQUESTED_MERGE = 'merge_requests.requested_merge';
export const REQUESTED_REBASE = 'merge_requests.requested_rebase';

type Request = {
  merge_request_id: number;
  user_id: number;
  sha: string | null;
  target_branch: string;
  admin_mode?: true | undefined;
};

const request =
  (task: string) =>
  (
    tx: Db,
    actor: Pick<Actor, 'id' | 'adminMode'>,
    { id, head_sha, target_branch }: MergeRequestRow,
  ): Promise<void> => {
    const payload: Request = {
      merge_request_id: id,
      user_id: actor.id,
      sha: head_sha,
      target_branch,
      admin_mode: actor.adminMode,
    };
    return addJobs(tx, [{ task, payload, key: `${task} ${id}` }]);
  };

/** Of the head and into the branch that the row has: what is pushed later is not merged, and nothing elsewhere. */
export const requestMerge = request(REQUESTED_MERGE);
export const requestRebase = request(REQUESTED_REBASE);

/** The work on an open merge request in the name of who requested it; what is refused by then is not done. */
const requested =
  (
    services: AfterServices,
    work: (
      context: MergeContext,
      project: AuthorizedProject,
      row: MergeRequestRow,
      request: Request,
    ) => Promise<unknown>,
  ): Task =>
  async (payload) => {
    const request = payload as Request;
    const { background, points } = services.database;
    const row = await selectMergeRequest(background, request.merge_request_id);
    const actor = row?.state === 'opened' && (await findActor(services, request.user_id, request));
    if (!row || !actor) return;
    const settings = await services.settings.read();
    await authorizeProject(points, actor, 'create_merge_requests', row.project_id)
      .then((project) => work({ services, settings, actor }, project, row, request))
      .catch(unlessRefused);
  };

export const mergeRequested = (services: AfterServices): Task =>
  requested(services, (context, project, row, { sha, target_branch }) =>
    mergeMergeRequest(context, project, row.iid, {
      auto: true,
      squash: row.squash,
      sha: sha ?? undefined,
      isWanted: (now) => now.target_branch === target_branch,
    }),
  );

export const rebaseRequested = (services: AfterServices): Task =>
  requested(services, (...[context, project, row]) => rebaseMergeRequest(context, project, row));
