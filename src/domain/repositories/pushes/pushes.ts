/**
 * Records a push, by git or by the API: activity events, the project's first branch, and the fact for
 * listeners. Written before the client's response.
 */

import { type Announcement, announceAll, touchProject } from '../../../kernel/activity/announce-actions.ts';
import type { Author } from '../../../kernel/actor.ts';
import type { PushIntent } from '../../../kernel/repository-store.ts';
import type { Needs } from '../../../kernel/services.ts';
import { firstBranchName } from '../../../kernel/settings/definitions.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { Failure } from '../../../platform/failure.ts';
import { runForProgram } from '../../../platform/fair-share.ts';
import { titleOf } from '../../../platform/git/commit-texts.ts';
import { commitIdsBetween } from '../../../platform/git/history/history.ts';
import { fullRef, NO_OBJECT, shortRef } from '../../../platform/git/names.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import { headRef, listRefs, peelToCommit, readRef } from '../../../platform/git/refs.ts';
import type { RefUpdate } from '../../../platform/git/write.ts';
import { countWrite, firstBranch, showFirst } from './actions.ts';
import { shownOptions } from './shown-options.ts';

/** The spec's `push_data` (Activity events). */
export type PushData = {
  commit_count: number;
  action: 'created' | 'removed' | 'pushed';
  ref_type: 'branch' | 'tag';
  commit_from: string | null;
  commit_to: string | null;
  ref: string | null;
  commit_title: string | null;
  ref_count: number | null;
};

/** Characters of a title in an event. */
const TITLE_LENGTH = 70;
const MAX_COUNTED = 10_000;
/** Commits that are read one by one before git is spawned to count. */
const MAX_STEPS = 50;

/** Undefined also for a commit too large to be shown: its push is taken, and recorded. */
const readableCommit = (git: GitFolder, oid: string): Promise<Commit | undefined> =>
  peelToCommit(git, oid).catch((error: unknown) => {
    if (error instanceof Failure && error.kind === 'unprocessable') return undefined;
    throw error;
  });

/** Commits from `known` to `after` by single parents; undefined without such a line, or if it is too long. */
async function countLine(git: GitFolder, after: string, known: string): Promise<number | undefined> {
  let next = after;
  for (let steps = 0; steps <= MAX_STEPS; steps++) {
    if (next === known) return steps;
    const commit = await readableCommit(git, next);
    const [parent, ...others] = commit?.parents ?? [];
    if (parent === undefined || others.length > 0) return undefined;
    next = parent;
  }
  return undefined;
}

/** The commit from which what a push brought is new: for a new branch the default branch's, where there is one. */
export async function knownBefore(git: GitFolder, { ref, before }: RefUpdate): Promise<string | undefined> {
  if (before !== NO_OBJECT) return before;
  const head = await headRef(git.folder);
  return ref === head ? undefined : (await git.info(head))?.oid;
}

/** The number of new commits; of a new branch, those that the default branch does not have. */
export async function countCommits(git: GitFolder, update: RefUpdate): Promise<number> {
  const { after } = update;
  if (after === NO_OBJECT) return 0;
  const known = await knownBefore(git, update);
  const line = known === undefined ? undefined : await countLine(git, after, known);
  if (line !== undefined) return line;
  // The push is taken: it does not count in its pusher's share.
  return runForProgram(() => commitIdsBetween(git, known, after, MAX_COUNTED)).then(
    ({ length }) => length,
    () => 0,
  );
}

/** One update of a branch or tag as an activity event; undefined for other refs. */
async function describe(git: GitFolder, update: RefUpdate): Promise<PushData | undefined> {
  const short = shortRef(update.ref);
  if (!short) return undefined;
  const created = update.before === NO_OBJECT;
  const removed = update.after === NO_OBJECT;
  const head = removed ? undefined : await readableCommit(git, update.after);
  return {
    commit_count: short.kind === 'tag' ? (removed ? 0 : 1) : await countCommits(git, update),
    action: created ? 'created' : removed ? 'removed' : 'pushed',
    ref_type: short.kind,
    commit_from: created ? null : update.before,
    commit_to: removed ? null : update.after,
    ref: short.name,
    commit_title: head ? [...titleOf(head.message)].slice(0, TITLE_LENGTH).join('') : null,
    ref_count: null,
  };
}

/** One event for each ref; for more refs than the setting says, one for each action and kind (facts: Activity events). */
async function pushEvents(git: GitFolder, updates: readonly RefUpdate[], limit: number): Promise<PushData[]> {
  const shown = updates.filter(({ ref }) => shortRef(ref) !== undefined);
  if (shown.length <= limit)
    return (await Promise.all(shown.map((update) => describe(git, update)))).filter(
      (data) => data !== undefined,
    );
  const bulk = new Map<string, PushData>();
  for (const { ref, before, after } of shown) {
    const action = before === NO_OBJECT ? 'created' : after === NO_OBJECT ? 'removed' : 'pushed';
    const ref_type = shortRef(ref)?.kind ?? 'branch';
    const data = bulk.get(`${action} ${ref_type}`) ?? {
      commit_count: 0,
      action,
      ref_type,
      commit_from: null,
      commit_to: null,
      ref: null,
      commit_title: null,
      ref_count: 0,
    };
    bulk.set(`${action} ${ref_type}`, { ...data, ref_count: (data.ref_count ?? 0) + 1 });
  }
  return [...bulk.values()];
}

/**
 * Records a push to a project's own repository if `confirmed` finds the lease still valid; one that was `empty` may get
 * its first branch by it. `pusher` is undefined for deploy tokens: they have no events. `also` runs in the same transaction.
 */
export async function recordPush(
  services: Needs<'database' | 'settings'>,
  project: { id: number; empty: boolean },
  pusher: Author | undefined,
  git: GitFolder,
  updates: readonly RefUpdate[],
  {
    confirmed,
    also,
    options,
    byJob,
  }: {
    confirmed?: Promise<unknown>;
    also?: (tx: Db) => Promise<unknown>;
    options?: readonly string[];
    /** A job pushed by its token: that starts no pipeline, which might push again. */
    byJob?: boolean;
  } = {},
): Promise<void> {
  if (updates.length === 0) return;
  const { db } = services.database;
  const settings = await services.settings.read();
  const [events, first] = await Promise.all([
    pusher ? pushEvents(git, updates, settings.push_event_activities_limit) : [],
    project.empty ? firstBranch(db, project.id, git, updates, firstBranchName(settings)) : undefined,
    confirmed,
  ]);
  await inTransaction(db, async (tx) => {
    const announcements: Announcement[] = events.map((data) => ({
      author: pusher,
      activity: { action: 'pushed', projectId: project.id, details: { push_data: data } },
    }));
    announcements.push({
      author: pusher,
      fact: {
        name: 'repository_pushed',
        payload: {
          project_id: project.id,
          user_id: pusher?.id ?? null,
          updates: updates.map((each) => ({ ...each })),
          ...(options && options.length > 0 && { options: shownOptions(options) }),
          ...(byJob && { by_job: true }),
        },
      },
    });
    // Pipelined: none needs the result of another.
    await Promise.all([
      also?.(tx),
      announceAll(tx, announcements),
      countWrite(tx, { kind: 'project', id: project.id, wiki: false }),
      first !== undefined && showFirst(tx, project.id, first, settings),
      // Without events nothing else updates the project's activity.
      first === undefined && events.length === 0 && touchProject(tx, project.id),
    ]);
  });
}

/** Updates that are kept for the record of a push that is interrupted. */
const MAX_KEPT_UPDATES = 1_000;

/** What is kept of a push while it is not recorded; undefined for one without events, or with too many updates. */
export const intentOf = (
  pusher: Pick<Author, 'id'> | undefined,
  updates: readonly RefUpdate[],
): PushIntent | undefined =>
  pusher && updates.length <= MAX_KEPT_UPDATES ? { userId: pusher.id, updates } : undefined;

/** The updates that git took, as the refs themselves say. */
export async function takenRefs(git: GitFolder, updates: readonly RefUpdate[]): Promise<RefUpdate[]> {
  const taken: RefUpdate[] = [];
  for (const update of updates)
    if (((await readRef(git, update.ref)) ?? NO_OBJECT) === update.after) taken.push(update);
  return taken;
}

/**
 * Records the branches of a project that looks empty: the process died between git's first push and its
 * record. No client got a response, but the branches exist.
 */
export async function recordInterruptedPush(
  services: Needs<'database' | 'settings'>,
  project: { id: number },
  git: GitFolder,
): Promise<void> {
  const branches = await listRefs(git, 'branch');
  const updates = branches.map(({ name, oid }) => ({
    ref: fullRef('branch', name),
    before: NO_OBJECT,
    after: oid,
  }));
  await recordPush(services, { ...project, empty: true }, undefined, git, updates);
}
