/** What pushes change of merge requests (facts: On a branch push): the listener of each push. */
import { type AuthorizedProject, reachProject } from '../../../kernel/access/find.ts';
import type { Needs } from '../../../kernel/services.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import { Failure } from '../../../platform/failure.ts';
import {
  type CommitLinks,
  commitIdsBetween,
  commitLinksBetween,
  readBeginnings,
} from '../../../platform/git/history/history.ts';
import { fullRef, NO_OBJECT, shortRef } from '../../../platform/git/names.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { findBranch } from '../../../platform/git/refs.ts';
import type { RefUpdate } from '../../../platform/git/write.ts';
import { addJobs, type Task } from '../../../platform/jobs/jobs.ts';
import { parseInterruptedWrite, projectRepository } from '../../repositories/index.ts';
import { selectCommitIds } from '../closing/queries.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { forgetJudgements } from '../writing/follow-actions.ts';
import { judgingJob, type Pushed, retargetingJob } from '../writing/following-jobs.ts';
import { recordMerged } from '../writing/merge-actions.ts';
import {
  closeForDeletedBranch,
  noteRestored,
  type PushedToSource,
  unnotedPush,
  writePushed,
} from '../writing/pushed-actions.ts';
import { askToTrace } from '../writing/trace-actions.ts';
import { type Acting, actingFor } from './acting-queries.ts';
import { mergeCommitOf } from './merge-commit.ts';
import { selectClosedFrom, selectFrom, selectInto, selectKnownHeads, selectMergedByHand } from './queries.ts';
import { beginAnew, refreshAfterPush } from './refresh.ts';

export const FOLLOW_PUSH = 'merge_requests.follow_push';

type FollowServices = Needs<'config' | 'database' | 'settings' | 'repositories' | 'log' | 'baseUrl'>;

type BranchUpdate = { branch: string; before: string; after: string };

/** Pushed commits that a note tells of. */
const MAX_TOLD_COMMITS = 1_000;
/** The newest of them, whose messages are read. */
const MAX_READ_COMMITS = 100;
/** Characters of a message: more than a title has. */
const MAX_MESSAGE_LENGTH = 10_000;

const branchesOf = ({ updates }: Pushed): BranchUpdate[] =>
  updates.flatMap(({ ref, before, after }) => {
    const short = shortRef(ref);
    return short?.kind === 'branch' ? [{ branch: short.name, before, after }] : [];
  });

/**
 * Those into the branch: what was merged into it on the command line is merged, and others of whose commits it has some now, or
 * that knew it as it no longer is, begin anew.
 */
async function followTarget(
  services: FollowServices,
  pushed: Pushed,
  { branch, before, after }: BranchUpdate,
): Promise<void> {
  if (before === NO_OBJECT || after === NO_OBJECT) return;
  const { project_id: projectId } = pushed;
  const target = await reachProject(services.database.points, projectId);
  if (!target) return;
  const { repository_storage } = target.row;
  const links = await services.repositories.read(projectRepository(projectId), repository_storage, (git) =>
    commitLinksBetween(git, before, after),
  );
  if (!links) return;
  await mergeByHand(services, pushed, branch, links);
  const isForward = links.some(({ parents }) => parents.includes(before));
  const commits = isForward ? links.map(({ oid }) => oid) : 'any';
  await beginInto(services, pushed, { projectId, branch, commits });
}

/** Those whose heads are among the pushed commits are merged. */
async function mergeByHand(
  services: FollowServices,
  pushed: Pushed,
  branch: string,
  links: readonly CommitLinks[],
): Promise<void> {
  if (links.length === 0) return;
  const { db } = services.database;
  const commits = links.map(({ oid }) => oid);
  for (const row of await selectMergedByHand(db, pushed.project_id, branch, commits)) {
    const acting = await actingFor(services, pushed, row);
    if (!acting) continue;
    const { actor, project } = acting;
    const mergeCommit = mergeCommitOf(links, row.head_sha ?? '') ?? row.head_sha;
    const made = { mergeCommit, squashCommit: null, shouldRemove: null };
    await inTransaction(db, (tx) => recordMerged(tx, actor, project, row, made));
  }
}

const BEGUN_AT_ONCE = 50;

/** Those into the branch get versions that begin at what it is. */
async function beginInto(
  services: FollowServices,
  pushed: Pushed,
  into: Parameters<typeof selectInto>[1],
): Promise<void> {
  const { db, background } = services.database;
  for (let after = 0; ; ) {
    const rows = await selectInto(background, into, after, BEGUN_AT_ONCE);
    if (rows.length === 0) return;
    after = rows.at(-1)?.id ?? after;
    for (const row of rows) {
      const acting = await actingFor(services, pushed, row);
      if (!acting) continue;
      const begins = await beginAnew(services, acting.project, row).catch(tooMuch(services, row));
      if (begins) await askToTrace(db, row, acting.actor);
    }
  }
}

/** What is too much for git stays as it was, and keeps no other one from being followed. */
const tooMuch =
  ({ log }: FollowServices, { id }: MergeRequestRow) =>
  (error: unknown): void => {
    if (!(error instanceof Failure && error.kind === 'unprocessable')) throw error;
    log.error('a push was not followed', error, { merge_request_id: id });
  };

/** The pushed commits, oldest first: those of the merge request, and others. */
async function readPushed(
  { repositories, database }: FollowServices,
  project: AuthorizedProject,
  { id }: MergeRequestRow,
  { before, after }: Pick<BranchUpdate, 'before' | 'after'>,
): Promise<Pick<PushedToSource, 'added' | 'existing'>> {
  const own = new Set(await selectCommitIds(database.db, id));
  const read = async (git: GitFolder) => {
    const pushed = (await commitIdsBetween(git, before, after, MAX_TOLD_COMMITS)).reverse();
    const { added = [], existing = [] } = Object.groupBy(pushed, (oid) =>
      own.has(oid) ? 'added' : 'existing',
    );
    const named = await readBeginnings(git, added.slice(-MAX_READ_COMMITS), MAX_MESSAGE_LENGTH);
    const messages = new Map(named.map(({ oid, message }) => [oid, message]));
    return {
      added: added.map((oid) => ({ oid, message: messages.get(oid) ?? '' })),
      existing: existing.map((oid) => ({ oid })),
    };
  };
  const told = await repositories.read(projectRepository(project.id), project.row.repository_storage, read);
  return told ?? { added: [], existing: [] };
}

/** Those that were closed with the branch, which is there again as it was, have a note of it. */
async function followRestored(
  services: FollowServices,
  pushed: Pushed,
  { branch, before, after }: BranchUpdate,
): Promise<void> {
  if (before !== NO_OBJECT) return;
  const { db } = services.database;
  for (const row of await selectClosedFrom(db, pushed.project_id, branch, after)) {
    const acting = await actingFor(services, pushed, row);
    if (acting) await noteRestored(db, acting.actor, acting.project, row);
  }
}

/** Those from the branch are closed where it is gone, and else get a version of what it has. */
async function followSource(
  services: FollowServices,
  pushed: Pushed,
  { branch, before, after }: BranchUpdate,
): Promise<void> {
  const { db } = services.database;
  for (const row of await selectFrom(db, pushed.project_id, branch)) {
    const acting = await actingFor(services, pushed, row);
    if (!acting) continue;
    const { actor, project } = acting;
    if (after === NO_OBJECT) {
      await closeForDeletedBranch(db, actor, project, row);
      continue;
    }
    await followRow(services, acting, row, { before, after, byJob: pushed.by_job }).catch(
      tooMuch(services, row),
    );
  }
}

async function followRow(
  services: FollowServices,
  { actor, project }: Acting,
  row: MergeRequestRow,
  { before, after, byJob }: Pick<BranchUpdate, 'before' | 'after'> & Pick<PushedToSource, 'byJob'>,
): Promise<void> {
  const { db } = services.database;
  const fresh = await refreshAfterPush(services, project, row);
  await askToTrace(db, row, actor);
  const unnoted = unnotedPush(fresh, { before, after });
  if (!unnoted) return;
  const pushed = await readPushed(services, project, fresh, unnoted);
  await writePushed(db, actor, project, fresh, { ...unnoted, ...pushed, byJob });
}

/** After `repository_pushed`. */
export const followPush =
  (services: FollowServices): Task =>
  (payload) =>
    follow(services, payload as unknown as Pushed);

async function follow(services: FollowServices, pushed: Pushed): Promise<void> {
  const { project_id } = pushed;
  for (const update of branchesOf(pushed)) {
    await followTarget(services, pushed, update);
    await followSource(services, pushed, update);
    await followRestored(services, pushed, update);
    await forgetJudgements(services.database.db, project_id, update);
    await addJobs(services.database.db, [judgingJob(project_id, update.branch, pushed.user_id)]);
  }
}

/**
 * After `repository_write_interrupted`: what a dead process pushed and did not record. Branches that are not where open merge
 * requests know them are followed as pushes of the authors; one that was recorded too changes nothing twice.
 */
export const followInterrupted =
  (services: FollowServices): Task =>
  async (payload) => {
    const { kind, id } = parseInterruptedWrite(payload);
    const project = kind === 'project' ? await reachProject(services.database.points, id) : undefined;
    if (!project) return;
    const known = await selectKnownHeads(services.database.background, id);
    const { repository_storage } = project.row;
    const updates = await services.repositories.read(
      projectRepository(id),
      repository_storage,
      async (git) => {
        const moved: RefUpdate[] = [];
        for (const { branch, oid } of known) {
          const after = (await findBranch(git, branch))?.oid ?? NO_OBJECT;
          if (after !== oid) moved.push({ ref: fullRef('branch', branch), before: oid, after });
        }
        return moved;
      },
    );
    if (!updates) return;
    await follow(services, { project_id: id, user_id: null, updates });
    const deleted = updates.filter(({ after }) => after === NO_OBJECT);
    if (deleted.length > 0) await addJobs(services.database.db, [retargetingJob(id, deleted)]);
  };
