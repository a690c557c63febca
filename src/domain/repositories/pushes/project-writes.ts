/** Writes of the API to a project's own repository: protected, atomic and announced. */

import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { instanceLimit, takeRoom } from '../../../kernel/repository-size/actions.ts';
import { commitRefusal, isLimited, newChangesRefusal } from '../../../kernel/repository-size/rules.ts';
import type { Needs } from '../../../kernel/services.ts';
import { type ApplicationSettings, firstBranchName } from '../../../kernel/settings/definitions.ts';
import type { Db } from '../../../platform/db/database.ts';
import { Failure } from '../../../platform/failure.ts';
import { withQuarantine } from '../../../platform/git/merging/quarantine.ts';
import { fullRef, NO_OBJECT } from '../../../platform/git/names.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import {
  type Commit,
  commitObject,
  type NewObject,
  newBlob,
  parseCommit,
  readable,
} from '../../../platform/git/parse.ts';
import { editTree } from '../../../platform/git/trees.ts';
import type { RefUpdate } from '../../../platform/git/write.ts';
import { refuseOwned } from '../code-owners/refuse-owned.ts';
import { asReadBy } from '../commits/queries.ts';
import { isPremium } from '../protection/present.ts';
import { guardRefs, isOwned, type RefGuard } from '../protection/protection.ts';
import { judgeByRule } from '../push-rules/judge.ts';
import { projectRepository } from '../store/containers.ts';
import { authorOf, type Draft, signatureOf, writeRefs } from './commits.ts';
import { intentOf, recordPush } from './pushes.ts';
import { refuseLocked } from './refuse-locked.ts';

/** Objects to store, refs to update, and the result for the caller. */
export type ProjectWrite<T> = {
  objects: readonly NewObject[];
  updates: readonly RefUpdate[];
  value: T;
  /** Runs in the transaction that records the push. */
  also?: (tx: Db) => Promise<unknown>;
  /** As those of a git push. */
  options?: readonly string[];
  /** The first commit is the program's own: no push rule is asked about it. */
  isFirst?: boolean;
};

/**
 * Runs `work` on the project's repository, and writes its result: objects, then all refs or none, then the
 * push's events. 403 where the protection of a ref or a move forbids it, 400 where another request was
 * faster. `shared` are branches to which an actor who does not push to the project may push.
 */
export async function writeProject<T>(
  services: Needs<'config' | 'database' | 'settings' | 'repositories'>,
  settings: ApplicationSettings,
  actor: Actor,
  project: AuthorizedProject,
  work: (git: GitFolder, guard: RefGuard) => Promise<ProjectWrite<T>>,
  shared?: ReadonlySet<string>,
): Promise<T> {
  const key = projectRepository(project.id);
  return services.repositories.write(key, firstBranchOf(project, settings), async (git, intend) => {
    const guard = await guardRefs(services.database.db, project, actor, settings, shared);
    const written = await work(asReadBy(git, project), guard);
    const { objects, updates, value, also, options = [] } = written;
    if (updates.length === 0) return value;
    // Other rules apply until there is a branch, and the first push may have come meanwhile.
    const judge = guard.rules.first ? await guardRefs(services.database.db, project, actor, settings) : guard;
    for (const update of updates) {
      const refusal = judge.refusal(update);
      if (refusal !== undefined) throw new Failure('forbidden', refusal);
    }
    const intent = intentOf(actor, updates);
    const brings = updates.some(({ after }) => after !== NO_OBJECT);
    await Promise.all([
      requireAllowed(services, settings, judge, git, project, actor, written),
      intent && intend(intent),
    ]);
    const ofInstance = instanceLimit(services, settings);
    if (brings && isLimited(judge.rules.sizeLimit, ofInstance))
      await requireRoom(services.database.db, project.id, ofInstance, objects);
    await writeRefs(git, objects, updates);
    const { id, row } = project;
    await recordPush(services, { id, empty: row.empty_repo }, actor, git, updates, {
      ...(also && { also }),
      options,
    });
    return value;
  });
}

/** 400 where the objects are too large for the limit of the project: as they are, not as they are packed. */
async function requireRoom(
  db: Db,
  projectId: number,
  ofInstance: number | undefined,
  objects: readonly NewObject[],
): Promise<void> {
  const bytes = objects.reduce((sum, { content }) => sum + content.length, 0);
  const { verdict, ...usage } = await takeRoom(db, projectId, ofInstance, bytes);
  if (verdict === 'is above') throw new Failure('bad_request', commitRefusal(usage));
  if (verdict === 'would exceed') throw new Failure('bad_request', newChangesRefusal(usage));
}

/**
 * 403 where the actor is no code owner of what the updates change in a branch that asks them, 400 where the push rule refuses it or
 * others have locked it.
 */
async function requireAllowed(
  services: Needs<'config' | 'database'>,
  settings: ApplicationSettings,
  guard: RefGuard,
  git: GitFolder,
  project: AuthorizedProject,
  actor: Actor,
  { objects, updates, isFirst }: ProjectWrite<unknown>,
): Promise<void> {
  const { db } = services.database;
  const premium = isPremium(services);
  const owned = premium ? updates.filter((update) => isOwned(guard, update)) : [];
  const { hasLocks, pushRule } = guard.rules;
  const rule = premium
    ? await judgeByRule(db, pushRule, firstBranchOf(project, settings), actor.id)
    : undefined;
  for (const update of rule ? updates : []) {
    const refusal = rule?.nameRefusal(update);
    if (refusal !== undefined) throw new Failure('bad_request', refusal);
  }
  const ruled = !isFirst && rule && updates.some(rule.readsContents) ? rule : undefined;
  if (owned.length === 0 && !hasLocks && !ruled) return;
  await withQuarantine(git.folder, async ({ place, lend }) => {
    await lend(objects);
    for (const update of owned) {
      const refusal = await refuseOwned(db, { git, place }, project, actor, update);
      if (refusal !== undefined) throw new Failure('forbidden', refusal);
    }
    const made = new Set(objects.filter(({ type }) => type === 'commit').map(({ oid }) => oid));
    const refusal =
      (await ruled?.contentsRefusal(place, updates, made)) ??
      (hasLocks ? await refuseLocked(db, { place }, project, actor, updates) : undefined);
    if (refusal !== undefined) throw new Failure('bad_request', refusal);
  });
}

/** The first branch of a project without one. */
const firstBranchOf = ({ row }: AuthorizedProject, settings: ApplicationSettings): string =>
  row.default_branch ?? firstBranchName(settings);

/** The first commit of a repository, with a README.md alone. */
export async function draftFirstCommit(
  settings: ApplicationSettings,
  actor: Actor,
  project: AuthorizedProject,
  git: GitFolder,
  readme: { text: string; message: string },
): Promise<ProjectWrite<Commit> & { branch: string }> {
  const branch = firstBranchOf(project, settings);
  const author = signatureOf(authorOf(actor));
  const file = await newBlob(readme.text);
  const change = { path: ['README.md'], entry: { mode: '100644', oid: file.oid } };
  const { oid: tree, objects } = await editTree(git, undefined, [change]);
  const { message } = readme;
  const draft = { branch, branchHead: undefined, parents: [], tree, message, author, committer: author };
  return { ...draftCommit({ ...draft, objects: [file, ...objects] }), branch, isFirst: true };
}

/** A commit on a branch, for writeProject(). */
export function draftCommit(draft: Draft): ProjectWrite<Commit> {
  const { branch, branchHead, parents, tree, message, author, committer } = draft;
  const object = readable(commitObject({ tree, parents: [...parents], author, committer, message }));
  const update = { ref: fullRef('branch', branch), before: branchHead ?? NO_OBJECT, after: object.oid };
  return {
    objects: [...draft.objects, object],
    updates: [update],
    value: parseCommit(object.oid, object.content),
  };
}
