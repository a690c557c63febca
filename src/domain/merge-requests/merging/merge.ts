/** Merges: decides, makes the commits, moves the branch and records it, exactly once however many ask. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { projectSettings } from '../../../kernel/namespaces/project-settings.ts';
import { instanceLimit, selectUsage } from '../../../kernel/repository-size/actions.ts';
import { isLimited, judge, mergeRefusal } from '../../../kernel/repository-size/rules.ts';
import type { Needs } from '../../../kernel/services.ts';
import { type ApplicationSettings, firstBranchName } from '../../../kernel/settings/definitions.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { Failure, notFound } from '../../../platform/failure.ts';
import { joinCommits } from '../../../platform/git/merging/join.ts';
import { judgeToMerge } from '../../../platform/git/merging/judge.ts';
import { fullRef, NO_OBJECT } from '../../../platform/git/names.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { readRef } from '../../../platform/git/refs.ts';
import type { RefUpdate } from '../../../platform/git/write.ts';
import { patternMatcher } from '../../../platform/patterns/pattern.ts';
import { changesLocked, linkMerged } from '../../lfs/index.ts';
import {
  authorOf,
  judgeByRule,
  projectRepository,
  recordPush,
  signatureOf,
  writeRefs,
} from '../../repositories/index.ts';
import { isApproved } from '../approvals/loaded.ts';
import type { MergeWish } from '../changes/merge-wish.ts';
import { refreshHeld } from '../following/refresh.ts';
import { findMergeRequest } from '../records/find-queries.ts';
import { mergeConditions } from '../records/merge-conditions.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { mayMerge } from '../records/merge-rights.ts';
import { mergeMessage, squashMessage } from '../texts/message-templates.ts';
import { squashOnMerge } from '../texts/squash.ts';
import type { TryMerge } from '../versions/judge.ts';
import { setAutoMerge } from '../writing/auto-merge-actions.ts';
import { claimMerge, type Merging, recordMerged, unclaimMerge } from '../writing/merge-actions.ts';
import { decideMerge } from './decide-merge.ts';
import { messageSources, readMessageCommits } from './merge-sources.ts';
import { type SelectedSources, selectSources } from './queries.ts';

export type MergeContext = {
  services: Needs<'config' | 'database' | 'settings' | 'repositories' | 'presence' | 'baseUrl' | 'wake'>;
  settings: ApplicationSettings;
  actor: Actor;
};

type BuiltMerge = {
  /** What the target branch will be. */
  head: string;
  mergeCommit: string | null;
  squashCommit: string | null;
};

/** What is asked, and whether it still is of the merge request as it is then. */
type WantedMerge = MergeWish & { isWanted?: (row: MergeRequestRow) => boolean };

const notAllowed = (): Failure => new Failure('method_not_allowed', '405 Method Not Allowed');
const cannotBeMerged = (): Failure => new Failure('unprocessable', 'Branch cannot be merged');

/** The commits of the merge; 422 where git, or the method, does not have it. */
async function build(
  { services, actor }: MergeContext,
  git: GitFolder,
  project: AuthorizedProject,
  row: MergeRequestRow,
  sources: SelectedSources,
  wish: MergeWish,
  tree: string | undefined,
): Promise<BuiltMerge> {
  const settings = projectSettings(project.row);
  const commits = await readMessageCommits(git, sources.commits);
  const told = messageSources(services.baseUrl(), project, row, actor, sources, commits);
  const squashes = squashOnMerge(settings.squash_option, row.squash || wish.squash);
  const merger = signatureOf(authorOf(actor));
  const needsSquash = squashes && (row.commits_count > 1 || wish.squashMessage !== undefined);
  const [source, target] = [row.head_sha ?? '', row.judged_target_sha ?? ''];
  const isFastForward = settings.merge_method === 'ff';
  const [own, ownSquash] = [settings.merge_commit_template, settings.squash_commit_template];
  const joined = await joinCommits(git, {
    source,
    target,
    tree,
    squash: needsSquash
      ? {
          message: squashMessage(told, { template: ownSquash, given: wish.squashMessage }),
          author: signatureOf(sources.author),
          committer: merger,
        }
      : undefined,
    merge: isFastForward
      ? undefined
      : {
          message: mergeMessage(told, { template: own, given: wish.mergeMessage }),
          author: merger,
          committer: merger,
        },
  });
  if (joined.result !== 'joined') throw cannotBeMerged();
  const { head, squash = source } = joined;
  return { head, mergeCommit: isFastForward ? null : head, squashCommit: squashes ? squash : null };
}

/** Moves the target branch; `moved` where another push was faster, and then the merge request is open again. */
async function moveBranch(
  db: Db,
  git: GitFolder,
  row: MergeRequestRow,
  { head }: BuiltMerge,
  update: RefUpdate,
): Promise<'merged' | 'moved'> {
  try {
    await writeRefs(git, [], [update]);
    return 'merged';
  } catch (error) {
    // Where git moved it all the same, reconciling finds that.
    if ((await readRef(git, update.ref)) !== head) await unclaimMerge(db, row.id, head);
    if (error instanceof Failure && error.kind === 'bad_request') return 'moved';
    throw error;
  }
}

/** Why the push rule of the project refuses the merge. */
async function ruleRefusal(
  { services, settings, actor }: MergeContext,
  git: GitFolder,
  { row }: AuthorizedProject,
  { push_rule }: SelectedSources,
  { mergeCommit, squashCommit }: BuiltMerge,
  source: string | null,
  update: RefUpdate,
): Promise<string | undefined> {
  if (services.config.tier === 'free' || !push_rule) return undefined;
  const main = row.default_branch ?? firstBranchName(settings);
  const rule = await judgeByRule(services.database.db, push_rule, main, actor.id);
  const made = [mergeCommit, squashCommit].filter((oid): oid is string => oid !== null && oid !== source);
  return rule?.nameRefusal(update) ?? rule?.contentsRefusal(git, [update], new Set(made));
}

/** 422 where the project is larger than its limit already: what a merge brings from a fork is counted when it is there. */
async function requireRoom(db: Db, projectId: number, ofInstance: number | undefined): Promise<void> {
  const usage = await selectUsage(db, projectId, ofInstance);
  if (judge(usage, 0) === 'is above') throw new Failure('unprocessable', mergeRefusal(usage));
}

/** Tries a merge so that it need not be made again: its tree is stored. */
function tryingToMerge(): { merge: TryMerge; treeOf(row: MergeRequestRow): string | undefined } {
  const trees = new Map<string, string>();
  return {
    async merge(git, pair) {
      const merged = await judgeToMerge(git, pair);
      if (merged.result === 'clean') trees.set(`${pair.ours} ${pair.theirs}`, merged.tree);
      return merged;
    },
    treeOf: ({ judged_target_sha, head_sha }) => trees.get(`${judged_target_sha} ${head_sha}`),
  };
}

/** One attempt with the repository held; `moved` where a push, or another change, was faster. */
async function attempt(
  context: MergeContext,
  git: GitFolder,
  project: AuthorizedProject,
  found: MergeRequestRow,
  { isWanted, ...wish }: WantedMerge,
): Promise<MergeRequestRow | 'waits' | 'moved'> {
  const { services, settings, actor } = context;
  const { db } = services.database;
  const projectsOwn = projectSettings(project.row);
  const tried = tryingToMerge();
  const row = await refreshHeld(
    services,
    git,
    found,
    projectsOwn.merge_method === 'ff' ? undefined : tried.merge,
  );
  if (isWanted?.(row) === false) throw notAllowed();
  const readSources = () => selectSources({ db, services, settings }, row);
  const [sources, may] = await Promise.all([
    readSources(),
    mayMerge({ db, settings, actor }, project, row.target_branch),
  ]);
  if (!sources) throw notFound();
  const pattern = projectsOwn.merge_request_title_regex;
  const matchesTitlePattern = (await patternMatcher([pattern]))(pattern, row.title);
  const { auto, sha } = wish;
  const brought = { projectId: project.id, target: row.judged_target_sha ?? '', source: row.head_sha ?? '' };
  const decide = async ({
    unresolved,
    blocked,
    changes_requested,
    unpassed,
    pipeline,
    approvals,
    locks,
  }: SelectedSources) =>
    decideMerge(
      { mayMerge: may, auto, sha },
      mergeConditions(
        row,
        {
          project: projectsOwn,
          matchesTitlePattern,
          unresolved,
          isApproved: isApproved(approvals),
          blocked,
          changesRequested: changes_requested,
          unpassed,
          pipeline,
          changesLocked: locks && (await changesLocked(db, git, brought, row.author_id)),
        },
        services.config.tier,
      ),
      row.head_sha ?? '',
    );
  const decision = await decide(sources);
  if (decision instanceof Failure) throw decision;
  if (decision === 'wait') {
    await setAutoMerge(db, actor, project, row, wish);
    return 'waits';
  }
  const ofInstance = instanceLimit(services, settings);
  if (isLimited(sources.size_limit, ofInstance)) await requireRoom(db, project.id, ofInstance);
  await linkMerged(db, git, brought, row.source_project_id);
  const built = await build(context, git, project, row, sources, wish, tried.treeOf(row));
  const { head, mergeCommit, squashCommit } = built;
  const before = row.judged_target_sha ?? NO_OBJECT;
  const update = { ref: fullRef('branch', row.target_branch), before, after: head };
  const refusal = await ruleRefusal(context, git, project, sources, built, row.head_sha, update);
  if (refusal !== undefined) throw new Failure('unprocessable', refusal);
  const merging: Merging = {
    process: services.presence.id,
    since: now().getTime(),
    head,
    mergeCommit,
    squashCommit,
    shouldRemove: wish.shouldRemoveSourceBranch ?? null,
    userId: actor.id,
  };
  if (!(await claimMerge(db, row, merging))) return 'moved';
  // Approvals, threads, dependencies, checks and locks have changed while the commits were made, or change too late.
  const claimed = await readSources();
  if (!claimed || (await decide(claimed)) !== 'merge') {
    await unclaimMerge(db, row.id, head);
    return 'moved';
  }
  if ((await moveBranch(db, git, row, built, update)) === 'moved') return 'moved';
  let merged: MergeRequestRow | undefined;
  await recordPush(services, { id: project.id, empty: false }, actor, git, [update], {
    also: async (tx) => {
      merged = await recordMerged(tx, actor, project, { ...row, lockedFor: head }, merging);
    },
  });
  // It was deleted meanwhile, or another process has recorded it.
  return merged ?? findMergeRequest(db, project, row.iid);
}

const MAX_ATTEMPTS = 5;

/**
 * Merges the merge request, or lets it wait; fails as facts-merge-requests §4.1 says. What another request changes
 * meanwhile, such as the branch that it is merged into, is looked at again.
 */
export async function mergeMergeRequest(
  context: MergeContext,
  project: AuthorizedProject,
  iid: number,
  wish: WantedMerge,
): Promise<MergeRequestRow> {
  const { services } = context;
  const { db } = services.database;
  const main = project.row.default_branch ?? 'main';
  for (let attempts = 1; ; attempts++) {
    const found = await findMergeRequest(db, project, iid);
    const outcome = await services.repositories.write(projectRepository(project.id), main, (git) =>
      attempt(context, git, project, found, wish),
    );
    if (outcome === 'waits') return findMergeRequest(db, project, iid);
    if (outcome !== 'moved') return outcome;
    if (attempts === MAX_ATTEMPTS) throw cannotBeMerged();
  }
}
