/** The history of commits: walked in this process without filters, and by git with them. */

import { join } from 'node:path';
import { Failure } from '../../failure.ts';
import { holdForRequest } from '../../fair-share.ts';
import { fullRef, pathComponents, type RefKind, shortRef } from '../names.ts';
import type { GitFolder } from '../objects.ts';
import { type Commit, parseCommit } from '../parse.ts';
import { textInTime } from '../program/long-runs.ts';
import { GitError } from '../program/program.ts';
import { createCommitCache } from './commit-cache.ts';

/** The folder where git looks up objects; the environment may name more folders. */
export type ObjectFolder = Pick<GitFolder, 'folder'> & { environment?: Record<string, string> };

/** The environment of runs that read the objects of another repository too; quoted, since a colon separates paths. */
export const objectsOf = (folder: string): Record<string, string> => ({
  GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(folder, 'objects')),
});

export type HistoryFilter = {
  /** Seconds since 1970, of the committer. */
  since?: number | undefined;
  until?: number | undefined;
  /** Only commits that change this path. */
  path?: string | undefined;
  /** A part of the author's name and address. */
  author?: string | undefined;
  /** A part of the message, case-insensitive. */
  message?: string | undefined;
  firstParent?: boolean | undefined;
  /** Shows no parent before all of its children. */
  topological?: boolean | undefined;
};

export type Window = { offset: number; limit: number };

/** Above it git counts faster than this walk. */
const MAX_WALKED_COMMITS = 2_000;
/** Above it there are no commits, and git cannot parse the number. */
const MAX_COMMITS = 1_000_000_000;

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

/** git's arguments for a filter; undefined where nothing can match. */
function selection(head: string | undefined, filter: HistoryFilter): string[] | undefined {
  const path = filter.path?.replace(/(?<!\/)\/+$/, '') || undefined;
  // An invalid path has no history.
  if (path !== undefined && !pathComponents(path)) return undefined;
  return [
    ...(filter.since === undefined ? [] : [`--max-age=${Math.max(0, Math.ceil(filter.since))}`]),
    ...(filter.until === undefined ? [] : [`--min-age=${Math.max(0, Math.floor(filter.until))}`]),
    ...(filter.author ? ['--fixed-strings', `--author=${filter.author}`] : []),
    // Each line is a pattern, and an empty one matches everything.
    ...(filter.message
      ? ['--fixed-strings', '--regexp-ignore-case', `--grep=${filter.message.replaceAll(/\s*\n\s*/g, ' ')}`]
      : []),
    ...(filter.firstParent ? ['--first-parent'] : []),
    ...(filter.topological ? ['--topo-order'] : []),
    ...(head === undefined ? ['--branches', '--tags'] : [head]),
    '--',
    ...(path === undefined ? [] : [path]),
  ];
}

const isWhole = ({ since, until, path, author, message, topological }: HistoryFilter): boolean =>
  since === undefined && until === undefined && !path && !author && !message && !topological;

/** Commits reachable from a head, or from all branches and tags, in the order of `git log`. */
export async function listHistory(
  git: GitFolder,
  head: string | undefined,
  filter: HistoryFilter,
  window: Window,
): Promise<Commit[]> {
  const selected = selection(head, filter);
  if (!selected || window.offset > MAX_COMMITS) return [];
  const walked =
    head !== undefined && isWhole(filter) && window.offset <= MAX_WALKED_COMMITS
      ? await walk(git, head, window, filter.firstParent)
      : undefined;
  if (walked) return walked;
  const range = [`--skip=${window.offset}`, `--max-count=${window.limit}`];
  const args = ['--literal-pathspecs', 'rev-list', ...range, ...selected];
  return readShownCommits(git, linesOf(await textInTime(args, { folder: git.folder })));
}

/** A cache: the ancestors of a commit never change. */
const counts = new Map<string, number>();
const MAX_COUNTS = 10_000;

/** The number of commits in the list, counted up to one more than `most`. */
export async function countListed(
  git: GitFolder,
  head: string | undefined,
  filter: HistoryFilter,
  most: number,
): Promise<number> {
  const selected = selection(head, { ...filter, topological: false });
  if (!selected) return 0;
  const key = `${git.folder} ${most} ${selected.join(' ')}`;
  const known = head === undefined ? undefined : counts.get(key);
  if (known !== undefined) return known;
  const args = ['--literal-pathspecs', 'rev-list', '--count', `--max-count=${most + 1}`, ...selected];
  const count = Number(await textInTime(args, { folder: git.folder }));
  if (counts.size >= MAX_COUNTS) counts.clear();
  if (head !== undefined) counts.set(key, count);
  return count;
}

export type CommitLinks = { oid: string; parents: string[] };

/** Commits of a range that are listed. */
const MAX_LISTED = 10_000;
/** Commits of a range that is kept, and such ranges: what follows a push asks for the same one again and again. */
const MAX_KEPT_COMMITS = 100;
const MAX_KEPT_RANGES = 500;
const ranges = createCommitCache<readonly CommitLinks[]>(
  MAX_KEPT_RANGES,
  ({ length }) => length <= MAX_KEPT_COMMITS,
);

/**
 * Commits reachable from `head` and not from `base` with their parents, newest first, the newest ten thousand of them. To find
 * the range costs git more than to list it.
 */
export function commitLinksBetween(
  { folder, environment }: ObjectFolder,
  base: string,
  head: string,
): Promise<readonly CommitLinks[]> {
  const args = ['rev-list', '--parents', `--max-count=${MAX_LISTED}`, head, `^${base}`, '--'];
  const list = async () =>
    linesOf(await textInTime(args, { folder, ...(environment && { environment }) })).map((line) => {
      const [oid = '', ...parents] = line.split(' ');
      return { oid, parents };
    });
  return environment ? list() : ranges(`${folder} ${base} ${head}`, list);
}

/** The ids of the same commits, the newest `limit` of them; without `base` of all that `head` has. */
export async function commitIdsBetween(
  place: ObjectFolder,
  base: string | undefined,
  head: string,
  limit: number,
): Promise<string[]> {
  if (base === undefined)
    return linesOf(
      await textInTime(['rev-list', `--max-count=${limit}`, head, '--'], { folder: place.folder }),
    );
  return (await commitLinksBetween(place, base, head)).slice(0, limit).map(({ oid }) => oid);
}

/** The same commits, oldest first. */
export const commitsBetween = async (
  git: GitFolder,
  place: ObjectFolder,
  base: string,
  head: string,
  limit: number,
): Promise<Commit[]> => readShownCommits(git, (await commitIdsBetween(place, base, head, limit)).reverse());

/** Characters of an address in a commit; longer ones are nobody's. */
const MAX_ADDRESS_LENGTH = 254;

/** The same commits with the addresses of their committers, in lower case. */
export async function committedBetween(
  { folder }: GitFolder,
  base: string,
  head: string,
  limit: number,
): Promise<{ oid: string; committer: string }[]> {
  // Cut off by git: a commit may have an address of many megabytes.
  const format = `--format=%H %<(${MAX_ADDRESS_LENGTH + 1},trunc)%ce`;
  const args = ['rev-list', `--max-count=${limit}`, '--no-commit-header', format, head, `^${base}`, '--'];
  return linesOf(await textInTime(args, { folder })).map((line) => {
    const [end, address] = [line.indexOf(' '), line.slice(line.indexOf(' ')).trim().toLowerCase()];
    return { oid: line.slice(0, end), committer: address.length > MAX_ADDRESS_LENGTH ? '' : address };
  });
}

/** Characters of the messages in one response; thousands of ordinary ones are less. */
const MAX_MESSAGES_LENGTH = 8 * 1_048_576;
const READ_AT_ONCE = 20;

const longMessages = (): Failure =>
  new Failure('unprocessable', 'The messages are too long for one answer. Ask for fewer with per_page.');

/** Characters of a commit's texts: names are unbounded too. */
export const lengthOfCommit = ({ message, author, committer }: Commit): number =>
  [author, committer].reduce((sum, { name, email }) => sum + name.length + email.length, message.length);

/** Reads the items of one response, within the memory budget; 422 where their messages are too long. */
export async function readShown<I, R>(
  items: readonly I[],
  read: (item: I) => Promise<R | undefined>,
  lengthOf: (read: R) => number,
): Promise<R[]> {
  const shown: R[] = [];
  let length = 0;
  for (let at = 0; at < items.length; at += READ_AT_ONCE) {
    const some = await Promise.all(items.slice(at, at + READ_AT_ONCE).map(read));
    for (const one of some) {
      if (one === undefined) continue;
      shown.push(one);
      length += lengthOf(one);
    }
    if (length > MAX_MESSAGES_LENGTH) throw longMessages();
  }
  holdForRequest(length);
  return shown;
}

/** The commits of these ids that are there; 422 where their messages are too long for one response. */
export const readShownCommits = (git: GitFolder, ids: readonly string[]): Promise<Commit[]> =>
  readShown(ids, (oid) => readCommit(git, oid), lengthOfCommit);

/** Whether readShownCommits() refuses none of these for its length: by their sizes, which git tells sooner than it reads them. */
export async function areShort({ folder }: GitFolder, ids: readonly string[]): Promise<boolean> {
  const args = ['cat-file', '--batch-check=%(objectsize)', '--buffer'];
  const sizes = linesOf(await textInTime(args, { folder, input: ids.map((oid) => `${oid}\n`).join('') }));
  // One that is not there is left out.
  return sizes.reduce((sum, size) => sum + (Number(size) || 0), 0) <= MAX_MESSAGES_LENGTH;
}

/**
 * The commits of these ids that are there, with the beginnings of their messages, so many characters of each; one that is too
 * large to be read is left out.
 */
export const readBeginnings = (git: GitFolder, ids: readonly string[], length: number): Promise<Commit[]> =>
  readShown(
    ids,
    async (oid) => {
      const commit = await readCommit(git, oid).catch((error) => {
        if (error instanceof Failure && error.kind === 'unprocessable') return undefined;
        throw error;
      });
      return commit && { ...commit, message: commit.message.slice(0, length) };
    },
    // Their number and length are the caller's.
    () => 0,
  );

async function readCommits(git: GitFolder, ids: readonly string[]): Promise<Commit[]> {
  const commits = await Promise.all(ids.map((oid) => readCommit(git, oid)));
  return commits.filter((commit) => commit !== undefined);
}

async function readCommit(git: GitFolder, oid: string): Promise<Commit | undefined> {
  const object = await git.read(oid);
  return object?.type === 'commit' ? parseCommit(object.oid, object.content) : undefined;
}

/** A commit with more parents is generated, and walked by git. */
const MAX_PARENTS = 100;

/**
 * Walks as git does: of the known commits that are not shown yet, always the newest; of equals, the one found
 * first. Undefined where git must do it.
 */
async function walk(
  git: GitFolder,
  head: string,
  { offset, limit }: Window,
  firstParent = false,
): Promise<Commit[] | undefined> {
  const found: Commit[] = [];
  let length = 0;
  // Oldest first, so that the next one is at the end.
  const waiting: Commit[] = [];
  const known = new Set([head]);
  let next = await readCommit(git, head);
  for (let shown = 1; next; shown++) {
    if (shown > offset) {
      found.push(next);
      length += lengthOfCommit(next);
      if (length > MAX_MESSAGES_LENGTH) throw longMessages();
    }
    if (shown === offset + limit) break;
    if (next.parents.length > MAX_PARENTS && !firstParent) return undefined;
    const parents = firstParent ? next.parents.slice(0, 1) : next.parents;
    const unknown = [...new Set(parents)].filter((oid) => !known.has(oid));
    for (const commit of await readCommits(git, unknown)) {
      known.add(commit.oid);
      waiting.splice(insertionIndex(commit, waiting), 0, commit);
    }
    next = waiting.pop();
  }
  holdForRequest(length);
  return found;
}

/** The commit's index in the list: before all that are as new, or newer. */
function insertionIndex(commit: Commit, waiting: readonly Commit[]): number {
  let low = 0;
  let high = waiting.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((waiting[middle]?.committer.time ?? 0) < commit.committer.time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The number of commits reachable from a head, itself included. */
export async function countHistory(git: GitFolder, head: string, firstParent = false): Promise<number> {
  const args = ['rev-list', '--count', ...(firstParent ? ['--first-parent'] : []), head, '--'];
  return Number(await textInTime(args, { folder: git.folder }));
}

/** The best common ancestor of the first commit and the others; undefined when they have none. */
export async function mergeBase(place: ObjectFolder, ids: readonly string[]): Promise<string | undefined> {
  try {
    return linesOf(await textInTime(['merge-base', ...ids], place))[0];
  } catch (error) {
    if (error instanceof GitError && error.code === 1) return undefined;
    throw error;
  }
}

/** The branches, then the tags, that contain the commit, each by name. */
export async function refsContaining(
  git: GitFolder,
  oid: string,
  kinds: readonly RefKind[],
): Promise<{ type: RefKind; name: string }[]> {
  const args = [
    'for-each-ref',
    `--contains=${oid}`,
    '--format=%(refname)',
    ...kinds.map((kind) => fullRef(kind, '')),
  ];
  return linesOf(await textInTime(args, { folder: git.folder })).flatMap((ref) => {
    const short = shortRef(ref);
    return short ? [{ type: short.kind, name: short.name }] : [];
  });
}
