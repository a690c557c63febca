/** Refs: resolves revisions of clients, and lists branches and tags. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fullRef, isAbbreviatedId, isObjectId, isRefName, type RefKind } from './names.ts';
import type { GitFolder } from './objects.ts';
import { type Commit, parseCommit, parseTag } from './parse.ts';
import { gitText, HIDDEN_REFS } from './program/program.ts';
import { readRefFiles } from './ref-files.ts';

export type Ref = { name: string; oid: string };

/** The commit of an object: itself, or a tag's target; undefined for trees and blobs. */
export async function peelToCommit(git: GitFolder, name: string): Promise<Commit | undefined> {
  let object = await git.read(name);
  // Nested tags are rare, and cycles impossible; the bound is for damaged ones.
  for (let depth = 0; object?.type === 'tag' && depth < 10; depth++)
    object = await git.read(parseTag(object.oid, object.content).object);
  return object?.type === 'commit' ? parseCommit(object.oid, object.content) : undefined;
}

/** The message of an annotated tag, without the end of its last line; null for another one, and where there is none. */
export async function readTagMessage(git: GitFolder, tag: string): Promise<string | null> {
  const object = isRefName(tag) ? await git.read(fullRef('tag', tag)) : undefined;
  return object?.type === 'tag' ? parseTag(object.oid, object.content).message.replace(/\n$/, '') : null;
}

const steps = /^(.+?)((?:[~^]\d{0,6}){1,8})$/;

/**
 * The commit of a revision: a branch, a tag, a full ref that clients may fetch, HEAD, an object id or its beginning, each with `~2`
 * and `^` after it. Branches come before tags. Undefined when there is none.
 */
export async function findCommit(git: GitFolder, revision: string): Promise<Commit | undefined> {
  const exact = await findPlain(git, revision);
  if (exact) return exact;
  const [, base, walk] = steps.exec(revision) ?? [];
  if (base === undefined || walk === undefined) return undefined;
  let commit = await findPlain(git, base);
  for (const [, sign, digits] of walk.matchAll(/([~^])(\d*)/g)) {
    const count = digits === '' ? 1 : Number(digits);
    if (count > 10_000) return undefined;
    if (sign === '^') commit = await parentOf(git, commit, count);
    else for (let step = 0; step < count && commit; step++) commit = await parentOf(git, commit, 1);
  }
  return commit;
}

async function parentOf(
  git: GitFolder,
  commit: Commit | undefined,
  nth: number,
): Promise<Commit | undefined> {
  if (nth === 0) return commit;
  const oid = commit?.parents[nth - 1];
  return oid === undefined ? undefined : peelToCommit(git, oid);
}

const isHidden = ({ hiddenRefs }: GitFolder, ref: string): boolean =>
  [HIDDEN_REFS, hiddenRefs].some((folder) => folder !== undefined && ref.startsWith(`${folder}/`));

async function findPlain(git: GitFolder, name: string): Promise<Commit | undefined> {
  if (isObjectId(name)) return peelToCommit(git, name);
  if (name === 'HEAD') return peelToCommit(git, 'HEAD');
  const candidates: string[] = [];
  if (name.startsWith('refs/') && isRefName(name.slice('refs/'.length)) && !isHidden(git, name))
    candidates.push(name);
  if (isRefName(name)) candidates.push(fullRef('branch', name), fullRef('tag', name));
  if (isAbbreviatedId(name)) candidates.push(name.toLowerCase());
  for (const candidate of candidates) {
    const commit = await peelToCommit(git, candidate);
    if (commit) return commit;
  }
  return undefined;
}

/** The commit of a branch; undefined without such a branch. */
export const findBranch = async (git: GitFolder, name: string): Promise<Commit | undefined> =>
  isRefName(name) ? peelToCommit(git, fullRef('branch', name)) : undefined;

/** The id that a full ref has now; undefined without such a ref. */
export const readRef = async (git: GitFolder, ref: string): Promise<string | undefined> =>
  isRefName(ref.replace(/^refs\//, '')) ? (await git.info(ref))?.oid : undefined;

export type RefOrder = 'name' | 'name_desc' | 'updated' | 'updated_desc' | 'version' | 'version_desc';

const sortKeys: Record<RefOrder, string> = {
  name: 'refname',
  name_desc: '-refname',
  updated: 'creatordate',
  updated_desc: '-creatordate',
  version: 'version:refname',
  version_desc: '-version:refname',
};

/** All branches or tags in this order; a hundred thousand of them are some megabytes of text. */
export async function listRefs(git: GitFolder, kind: RefKind, order: RefOrder = 'name'): Promise<Ref[]> {
  const below = kind === 'branch' ? 'refs/heads/' : 'refs/tags/';
  const byName = order === 'name' || order === 'name_desc' ? refsByName(git.folder, below) : undefined;
  if (byName) return order === 'name' ? byName : byName.reverse();
  // By name within the same second.
  const sort = order.startsWith('updated')
    ? ['--sort=refname', `--sort=${sortKeys[order]}`]
    : [`--sort=${sortKeys[order]}`];
  const text = await gitText(['for-each-ref', ...sort, '--format=%(objectname) %(refname)', below], {
    folder: git.folder,
    // The date is in each ref's object.
    kind: order.startsWith('updated') ? 'long' : 'short',
  });
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({
      oid: line.slice(0, line.indexOf(' ')),
      name: line.slice(line.indexOf(' ') + 1 + below.length),
    }));
}

/** By name, from the files of a repository with few refs; undefined where git must read them. */
function refsByName(folder: string, below: string): Ref[] | undefined {
  const all = readRefFiles(folder);
  return (
    all &&
    [...all]
      .filter(([name]) => name.startsWith(below))
      .map(([name, oid]) => ({ oid, name: Buffer.from(name.slice(below.length), 'latin1').toString() }))
  );
}

/** All refs below these folders of refs, by their full names. */
export async function refsBelow(git: GitFolder, folders: readonly string[]): Promise<Ref[]> {
  const args = ['for-each-ref', '--format=%(objectname) %(refname)', '--', ...folders];
  const lines = (await gitText(args, { folder: git.folder })).split('\n').filter((line) => line !== '');
  return lines.map((line) => ({
    oid: line.slice(0, line.indexOf(' ')),
    name: line.slice(line.indexOf(' ') + 1),
  }));
}

/** Whether there is any branch. */
export async function hasBranches(git: GitFolder): Promise<boolean> {
  return (
    (await gitText(['for-each-ref', '--count=1', '--format=x', 'refs/heads/'], { folder: git.folder })) !== ''
  );
}

/** The full ref of HEAD, whether it exists or not; `HEAD` itself where it is detached. */
export async function headRef(folder: string): Promise<string> {
  const text = await readFile(join(folder, 'HEAD'), 'utf8');
  return /^ref: (refs\/\S+)\n$/.exec(text)?.[1] ?? 'HEAD';
}
