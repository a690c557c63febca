/** Commits of API callers, in projects, snippets and wikis. */
import type { Actor } from '../../../kernel/actor.ts';
import { now } from '../../../platform/clock.ts';
import { Failure } from '../../../platform/failure.ts';
import { fullRef, NO_OBJECT } from '../../../platform/git/names.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import {
  type Commit,
  commitObject,
  type NewObject,
  parseCommit,
  readable,
  type Signature,
} from '../../../platform/git/parse.ts';
import { GitError } from '../../../platform/git/program/program.ts';
import { editTree, type TreeChange } from '../../../platform/git/trees.ts';
import { RefMoved, type RefUpdate, writeAll } from '../../../platform/git/write.ts';

export type Person = { name: string; email: string };

/** The author of commits that the API makes for the actor. */
export const authorOf = ({ name, commitEmail }: Pick<Actor, 'name' | 'commitEmail'>): Person => ({
  name,
  email: commitEmail,
});

/** The signature of a person at the present time, in UTC. */
export const signatureOf = ({ name, email }: Person): Signature => ({
  name,
  email,
  time: Math.floor(now().getTime() / 1_000),
  zone: '+0000',
});

export type Draft = {
  /** The branch's commit; undefined for a new branch. */
  branchHead: string | undefined;
  branch: string;
  parents: readonly string[];
  tree: string;
  message: string;
  author: Signature;
  committer: Signature;
  /** Blobs and trees to store before the commit. */
  objects: readonly NewObject[];
};

export type Written = { commit: Commit; update: RefUpdate };

/** The public API's message for a branch that another request has changed meanwhile. */
export const lostRace = (ref: string): Failure =>
  new Failure('bad_request', `Could not update ${ref}. Please refresh and try again.`);

/** Stores the commit and updates the branch; 400 when the branch is no longer at `branchHead`. */
export async function writeCommit(git: GitFolder, draft: Draft): Promise<Written> {
  const { branch, branchHead, parents, tree, message, author, committer } = draft;
  const object = readable(commitObject({ tree, parents: [...parents], author, committer, message }));
  const ref = fullRef('branch', branch);
  const update = { ref, before: branchHead ?? NO_OBJECT, after: object.oid };
  await writeRefs(git, [...draft.objects, object], [update]);
  return { commit: parseCommit(object.oid, object.content), update };
}

/** Stores objects and updates refs; 400 when a ref is no longer at its `before`. */
export async function writeRefs(
  git: GitFolder,
  objects: readonly NewObject[],
  updates: readonly RefUpdate[],
): Promise<void> {
  try {
    await writeAll(git, objects, updates);
  } catch (error) {
    if (error instanceof RefMoved) throw lostRace(updates[0]?.ref ?? 'refs');
    const [, complaint] = (error instanceof GitError && badObject.exec(error.stderr)) || [];
    if (complaint !== undefined) throw new Failure('bad_request', `Rejected by git: ${complaint}`);
    throw error;
  }
}

/** git's error for an object that would harm its readers, such as a `.gitmodules`. */
const badObject = /^error: object [0-9a-f]+: (.+)$/m;

/** Commits changes of some paths to a branch, for wikis and snippets. */
export async function commitChanges(
  git: GitFolder,
  given: {
    branch: string;
    head: Commit | undefined;
    changes: readonly TreeChange[];
    blobs: readonly NewObject[];
    message: string;
    author: Person;
  },
): Promise<Written> {
  const { branch, head, changes, blobs, message } = given;
  const { oid, objects } = await editTree(git, head?.tree, changes);
  const author = signatureOf(given.author);
  return writeCommit(git, {
    branch,
    branchHead: head?.oid,
    parents: head ? [head.oid] : [],
    tree: oid,
    message,
    author,
    committer: author,
    objects: [...blobs, ...objects],
  });
}
