/** Commits that the API makes on a branch: of files, picked from elsewhere, reverted, or of a submodule. */
import { onProject } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { Failure, forbidden, notFound } from '../../../platform/failure.ts';
import { titleOf } from '../../../platform/git/commit-texts.ts';
import type { DiffEnds } from '../../../platform/git/history/diff-runs.ts';
import { isAncestor, mergeTrees } from '../../../platform/git/merging/merge.ts';
import { fullRef, isObjectId, isRefName } from '../../../platform/git/names.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import type { Commit, Signature } from '../../../platform/git/parse.ts';
import { findBranch, findCommit, hasBranches, peelToCommit } from '../../../platform/git/refs.ts';
import { editTree, entryType, findEntry } from '../../../platform/git/trees.ts';
import { changeOf } from '../commits/queries.ts';
import { authorizePush, sharedBranches } from '../protection/collaborations.ts';
import type { RefGuard } from '../protection/protection.ts';
import { FORCE_REFUSED } from '../protection/protection-rules.ts';
import { authorOf, lostRace, signatureOf } from '../pushes/commits.ts';
import { draftCommit, type ProjectWrite, writeProject } from '../pushes/project-writes.ts';
import { applyActions } from './changes.ts';
import {
  BAD_BRANCH,
  branchExists,
  filePath,
  NO_BRANCH,
  PUSH_REFUSED,
  pickMessage,
  pickRefusal,
  refused,
  revertMessage,
} from './rules.ts';
import type { CommitWish } from './schema.ts';

/** The context of every write to a project's repository. */
export type CommitContext = {
  services: Needs<'config' | 'database' | 'settings' | 'repositories' | 'registered'>;
  settings: ApplicationSettings;
  actor: Actor;
  subject: AuthorizedProject;
};

const pushAccess = onProject('push_code', 'id', PUSH_REFUSED);

/** Users who push may write files; all others get the same refusal, by their role, the branch or the archive. */
export const commitAccess: typeof pushAccess = {
  ...pushAccess,
  async find(request) {
    const subject = await authorizePush(request, request.params.id ?? '', PUSH_REFUSED);
    // authorizePush() refused anonymous callers.
    return { subject, actor: request.caller as Actor };
  },
};

/** Writes to a branch; 403 for one that the caller may not push to, whatever else is wrong. */
async function write<T>(
  context: CommitContext,
  branch: string,
  work: (git: GitFolder, guard: RefGuard) => Promise<ProjectWrite<T>>,
): Promise<T> {
  const { services, settings, actor, subject } = context;
  const shared = await sharedBranches(context, subject);
  const guarded = async (git: GitFolder, guard: RefGuard) => {
    if (!guard.mayPush(branch)) throw forbidden(PUSH_REFUSED);
    return work(git, guard);
  };
  return writeProject(services, settings, actor, subject, guarded, shared);
}

/**
 * The commit that a change starts from, and the branch's present one; both undefined in an empty repository.
 */
async function startOf(
  git: GitFolder,
  guard: RefGuard,
  wish: Pick<CommitWish, 'branch' | 'start_branch' | 'start_sha' | 'force'>,
): Promise<{ start: Commit | undefined; head: Commit | undefined }> {
  const { branch, start_branch: startBranch, start_sha: startSha, force } = wish;
  if (!isRefName(branch)) throw refused(BAD_BRANCH);
  const head = await findBranch(git, branch);
  const elsewhere = startSha || (startBranch === branch ? undefined : startBranch);
  // A form sends an omitted value as an empty text.
  if (!elsewhere) {
    if (!head && (await hasBranches(git))) {
      // The repository's first branch may have come just now.
      throw (await findBranch(git, branch)) ? lostRace(fullRef('branch', branch)) : refused(NO_BRANCH);
    }
    return { start: head, head };
  }
  const start = await (startSha ? commitOf(git, startSha) : findBranch(git, elsewhere));
  if (!start) throw refused(startSha ? 'Cannot find start commit' : NO_BRANCH);
  if (head && !force && start.oid !== head.oid) throw refused(branchExists(branch));
  if (head && !guard.mayForce(branch) && !(await isAncestor(git, head.oid, start.oid)))
    throw new Failure('forbidden', FORCE_REFUSED);
  return { start, head };
}

const commitOf = async (git: GitFolder, oid: string): Promise<Commit | undefined> =>
  isObjectId(oid) ? peelToCommit(git, oid) : undefined;

/** Checks the commit that the new one will start from, and may refuse. */
export type Condition = (git: GitFolder, start: Commit | undefined) => Promise<void>;

/** Makes a commit of the actions; returns it. 400 in the public API's words for invalid actions. */
export async function createCommit(
  context: CommitContext,
  wish: CommitWish,
  condition?: Condition,
): Promise<Commit> {
  const { branch, commit_message: message, actions } = wish;
  if (!isSameProject(context.subject, wish.start_project))
    throw refused('A commit can only start from the project itself');
  const committer = authorOf(context.actor);
  return write(context, branch, async (git, guard) => {
    const { start, head } = await startOf(git, guard, wish);
    await condition?.(git, start);
    const { tree, objects } = await applyActions(git, start, actions);
    return draftCommit({
      branch,
      branchHead: head?.oid,
      parents: start ? [start.oid] : [],
      tree,
      message,
      author: signatureOf({
        name: wish.author_name || committer.name,
        email: wish.author_email || committer.email,
      }),
      committer: signatureOf(committer),
      objects,
    });
  });
}

const isSameProject = (project: AuthorizedProject, reference: string | undefined): boolean =>
  !reference || reference === String(project.id) || reference === project.fullPath;

export type PickWish = { sha: string; branch: string; dry_run?: boolean; message?: string };

/** A change of one tree into another, to be made again on a branch. */
type Change = DiffEnds & {
  verb: 'cherry-pick' | 'revert';
  message: string;
  author: Signature;
};

/** Makes a change again on the branch; 404 without the commit or the branch, 400 for a conflict or no change. */
async function repeat(
  context: CommitContext,
  { sha, branch, dry_run: dry }: PickWish,
  wanted: (change: DiffEnds, commit: Commit, committer: Signature) => Change,
): Promise<Commit> {
  return write(context, branch, async (git) => {
    const commit = await findCommit(git, sha);
    if (!commit) throw notFound('Commit');
    const head = await findBranch(git, branch);
    if (!head) throw notFound('Branch');
    const committer = signatureOf(authorOf(context.actor));
    const { verb, from, to, message, author } = wanted(await changeOf(git, commit), commit, committer);
    const merged = await mergeTrees(git, { base: from, ours: head.tree, theirs: to });
    if (merged.result !== 'clean') throw pickRefusal(verb, 'conflict');
    const { tree } = merged;
    if (tree === head.tree) throw pickRefusal(verb, 'empty');
    const draft = { branch, branchHead: head.oid, parents: [head.oid], tree, message, objects: [] };
    const written = draftCommit({ ...draft, author, committer });
    if (dry) return { objects: [], updates: [], value: written.value };
    if (verb === 'revert') return written;
    const { actor, subject } = context;
    const payload = {
      project_id: subject.id,
      user_id: actor.id,
      branch,
      sha: commit.oid,
      picked: written.value.oid,
    };
    return { ...written, also: (tx) => announce(tx, { fact: { name: 'commit_picked', payload } }) };
  });
}

/** Makes a commit's change again on another branch, in its author's name. */
export const cherryPick = (context: CommitContext, pick: PickWish): Promise<Commit> =>
  repeat(context, pick, ({ from, to }, commit) => ({
    verb: 'cherry-pick',
    from,
    to,
    message: pick.message || pickMessage(commit.oid, commit.message),
    author: commit.author,
  }));

/** Makes the opposite of a commit's change on a branch. */
export const revert = (context: CommitContext, pick: PickWish): Promise<Commit> =>
  repeat(context, pick, ({ from, to }, commit, committer) => ({
    verb: 'revert',
    from: to,
    to: from,
    message: pick.message || revertMessage(commit.oid, titleOf(commit.message)),
    author: committer,
  }));

/** Points a submodule to another commit of its own repository; 400 where the path is none, or is there already. */
export async function updateSubmodule(
  context: CommitContext,
  wish: { submodule: string; branch: string; commit_sha: string; commit_message?: string },
): Promise<Commit> {
  const { submodule, branch, commit_sha: target } = wish;
  if (!isObjectId(target)) throw refused('Invalid parameters: commit_sha is not the id of a commit');
  const path = filePath(submodule);
  return write(context, branch, async (git) => {
    const head = await findBranch(git, branch);
    if (!head) throw notFound('Branch');
    const entry = await findEntry(git, head.tree, path);
    if (!entry || entryType(entry) !== 'commit') throw refused('Invalid submodule path');
    if (entry.oid === target) throw refused(`The submodule ${submodule} is already at ${target}`);
    const changed = { mode: entry.mode, oid: target };
    const { oid: tree, objects } = await editTree(git, head.tree, [{ path, entry: changed }]);
    const author = signatureOf(authorOf(context.actor));
    return draftCommit({
      branch,
      branchHead: head.oid,
      parents: [head.oid],
      tree,
      message: wish.commit_message || `Update submodule ${submodule} with oid ${target}`,
      author,
      committer: author,
      objects,
    });
  });
}
