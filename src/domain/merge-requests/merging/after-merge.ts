/** What follows changes of merge requests: automatic merges that wait for them, and source branches of merged ones. */
import { authorizeProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import { Failure } from '../../../platform/failure.ts';
import { fullRef, NO_OBJECT } from '../../../platform/git/names.ts';
import { findBranch } from '../../../platform/git/refs.ts';
import type { Task } from '../../../platform/jobs/jobs.ts';
import { findActor } from '../../conversation/index.ts';
import { writeProject } from '../../repositories/index.ts';
import type { MergeWish } from '../changes/merge-wish.ts';
import { selectWaiting, selectWaitingFor, selectWaitingForCommit } from '../following/queries.ts';
import { selectMergeRequest } from '../records/find-queries.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { mergeMergeRequest } from './merge.ts';

export type AfterServices = Needs<
  'config' | 'database' | 'settings' | 'repositories' | 'presence' | 'baseUrl' | 'wake' | 'log'
>;

/** Nobody waits for an answer: what is refused stays as it is. */
export const unlessRefused = (error: unknown): void => {
  if (!(error instanceof Failure)) throw error;
};

/** Deletes the source branch as who merged: one that is unprotected, not the default, and still what was merged. */
async function removeSource(services: AfterServices, row: MergeRequestRow, actor: Actor): Promise<void> {
  const { source_project_id, source_branch, head_sha } = row;
  if (source_project_id === null) return;
  const { points } = services.database;
  const source = await authorizeProject(points, actor, 'push_code', source_project_id);
  if (source_branch === source.row.default_branch) return;
  const settings = await services.settings.read();
  await writeProject(services, settings, actor, source, async (git, guard) => {
    const head = await findBranch(git, source_branch);
    if (!head || head.oid !== head_sha || guard.isProtected(source_branch))
      return { objects: [], updates: [], value: undefined };
    const update = { ref: fullRef('branch', source_branch), before: head.oid, after: NO_OBJECT };
    return { objects: [], updates: [update], value: undefined };
  });
}

/** Whether there is anything for afterMerge() to do. */
export const removesSource = ({ removes_source_branch }: Readonly<Record<string, unknown>>): boolean =>
  removes_source_branch === true;

/** After `merge_request_merged`. */
export const afterMerge =
  (services: AfterServices): Task =>
  async (payload) => {
    const { merge_request_id, user_id } = payload as { merge_request_id: number; user_id: number };
    if (!removesSource(payload)) return;
    const row = await selectMergeRequest(services.database.background, merge_request_id);
    const actor = await findActor(services, user_id, payload);
    if (row && actor) await removeSource(services, row, actor).catch(unlessRefused);
  };

/** Merges one that waits, in the name of who asked, if every check passes by now. */
async function mergeWaiting(services: AfterServices, row: MergeRequestRow): Promise<void> {
  if (row.auto_merge === null) return;
  const wish = row.auto_merge as unknown as MergeWish;
  const actor = await findActor(services, row.merge_user_id ?? 0, wish);
  if (!actor) return;
  const settings = await services.settings.read();
  const { points } = services.database;
  const project = await authorizeProject(points, actor, 'create_merge_requests', row.project_id);
  // It may be cancelled, or have another target, since it was found.
  const isWanted = (now: MergeRequestRow) =>
    now.auto_merge !== null &&
    now.merge_user_id === row.merge_user_id &&
    now.target_branch === row.target_branch;
  await mergeMergeRequest({ services, settings, actor }, project, row.iid, {
    ...wish,
    auto: false,
    isWanted,
  });
}

/** Those looked at by one run: the others come to their turn, and are looked at when they change. */
const MAX_WAITING = 1_000;

/**
 * Of the fact's merge request and those that wait for it, or of those that wait for the fact's pipeline, or, by the clock, of those
 * after the last ones: all in turn.
 */
export function autoMerge(services: AfterServices): Task {
  const { background } = services.database;
  let last = 0;
  async function selectNext(): Promise<MergeRequestRow[]> {
    const rows = await selectWaiting(background, last, MAX_WAITING);
    last = rows.length < MAX_WAITING ? 0 : (rows.at(-1)?.id ?? 0);
    return rows;
  }
  function selectFor({ merge_request_id: id, project_id, sha }: Record<string, unknown>) {
    if (typeof id === 'number') return selectWaitingFor(background, id, MAX_WAITING);
    if (typeof project_id === 'number' && typeof sha === 'string')
      return selectWaitingForCommit(background, project_id, sha, MAX_WAITING);
    return selectNext();
  }
  return async (payload) => {
    const rows = selectFor(payload);
    let failed: unknown;
    for (const row of await rows)
      try {
        await mergeWaiting(services, row).catch(unlessRefused);
      } catch (error) {
        // It keeps none of the others waiting.
        failed = error;
      }
    if (failed !== undefined) throw failed;
  };
}
