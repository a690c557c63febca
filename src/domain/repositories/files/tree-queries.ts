/** The entries of a folder in the order of the API, read level by level and only as far as a page reaches. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Failure, notFound } from '../../../platform/failure.ts';
import { isObjectId } from '../../../platform/git/names.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import type { TreeEntry } from '../../../platform/git/parse.ts';
import { findCommit } from '../../../platform/git/refs.ts';
import { entryType, FOLDER_MODE, findEntry, type PathEntry, readTree } from '../../../platform/git/trees.ts';
import { badPageToken, pathOfToken } from './tree-rules.ts';

/** A folder whose entries are listed, with those of all folders in it when `recursive`. */
export type Listing = { tree: string; path: readonly string[]; recursive: boolean };

/** The components of a path; slashes at its ends and double ones are left out. */
export const pathComponents = (path: string): string[] => path.split('/').filter((part) => part !== '');

/** The folder at the path of a revision; 404 when there is none. */
export async function findFolder(git: GitFolder, revision: string, path: readonly string[]): Promise<string> {
  const commit = await findCommit(git, revision);
  const entry = commit && (await findEntry(git, commit.tree, path));
  if (entry?.mode !== FOLDER_MODE) throw notFound('Tree');
  return entry.oid;
}

/** A folder's own entries: folders, files, submodules, each in git's order. */
export async function readLevel(git: GitFolder, oid: string): Promise<TreeEntry[]> {
  const byType = Map.groupBy((await readTree(git, oid)) ?? [], entryType);
  return [...(byType.get('tree') ?? []), ...(byType.get('blob') ?? []), ...(byType.get('commit') ?? [])];
}

/** Entries kept along one way down, at most: a tree made for it would fill the memory. */
const MAX_HELD_ENTRIES = 300_000;

const ENTRIES_PER_TURN = 1_000;

type Level = { prefix: string; entries: TreeEntry[]; next: number };

/** The entries behind a path, each folder followed by its own; 400 when nothing is at the path. */
export async function* listEntries(
  git: GitFolder,
  { tree, path, recursive }: Listing,
  after: readonly string[] = [],
): AsyncGenerator<PathEntry> {
  const levels: Level[] = [];
  let held = 0;
  async function enter(oid: string, prefix: string): Promise<Level> {
    const level = { prefix, entries: await readLevel(git, oid), next: 0 };
    held += level.entries.length;
    if (held > MAX_HELD_ENTRIES && levels.length > 0)
      throw new Failure('unprocessable', 'The tree is too large to be listed as a whole.');
    levels.push(level);
    return level;
  }

  let level: Level | undefined = await enter(tree, path.map((part) => `${part}/`).join(''));
  for (const [depth, name] of after.entries()) {
    // Of two names with the same text in two encodings the later: a walk that went back would never end.
    const at: number = level.entries.findLastIndex((each) => each.name === name);
    const entry: TreeEntry | undefined = level.entries[at];
    const last = depth === after.length - 1;
    const folder = entry?.mode === FOLDER_MODE;
    if (!entry || (!last && !(recursive && folder))) throw badPageToken();
    level.next = at + 1;
    if (recursive && folder) level = await enter(entry.oid, `${level.prefix}${name}/`);
  }

  for (let seen = 1; level; level = levels.at(-1), seen += 1) {
    // Levels that were read before take no wait: other requests run all the same.
    if (seen % ENTRIES_PER_TURN === 0) await nextTurn();
    const entry: TreeEntry | undefined = level.entries[level.next++];
    if (!entry) {
      levels.pop();
      held -= level.entries.length;
      continue;
    }
    const placed = { ...entry, path: `${level.prefix}${entry.name}` };
    yield placed;
    if (recursive && entry.mode === FOLDER_MODE) await enter(entry.oid, `${placed.path}/`);
  }
}

/** Pages beyond so many entries are not counted. */
const MAX_SKIPPED = 100_000;

/** `limit` entries from an offset on; 400 for an offset that only keyset pages reach. */
export async function entriesFrom(
  git: GitFolder,
  listing: Listing,
  offset: number,
  limit: number,
): Promise<PathEntry[]> {
  if (offset > MAX_SKIPPED)
    throw new Failure('bad_request', `400 Bad request - beyond ${MAX_SKIPPED} entries use keyset pagination`);
  return take(listEntries(git, listing), offset, limit);
}

/** `limit` entries from behind a page token: a path, or the id of an entry, of which the first counts. */
export async function entriesAfter(
  git: GitFolder,
  listing: Listing,
  token: string | undefined,
  limit: number,
): Promise<PathEntry[]> {
  if (token === undefined) return take(listEntries(git, listing), 0, limit);
  if (!isObjectId(token)) return take(listEntries(git, listing, pathOfToken(token)), 0, limit);
  const entries = listEntries(git, listing);
  for (let seen = 0; seen < MAX_SKIPPED; seen++) {
    const { value } = await entries.next();
    if (!value) break;
    if (value.oid === token) return take(entries, 0, limit);
  }
  throw badPageToken();
}

async function take(entries: AsyncIterable<PathEntry>, skip: number, limit: number): Promise<PathEntry[]> {
  const taken: PathEntry[] = [];
  let seen = 0;
  for await (const entry of entries) {
    if (seen++ < skip) continue;
    taken.push(entry);
    if (taken.length === limit) break;
  }
  return taken;
}
