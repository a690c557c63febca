/** Trees: lookups by path, walks, and edits. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { GitFolder } from './objects.ts';
import { type NewObject, newTree, parseCommit, parseTree, type TreeEntry, treeObject } from './parse.ts';
import { tooLarge } from './program/program.ts';

export const FOLDER_MODE = '40000';
const SUBMODULE_MODE = '160000';

/** The API's type of an entry: `tree`, `blob`, or `commit` for a submodule. */
export const entryType = ({ mode }: Pick<TreeEntry, 'mode'>): 'tree' | 'blob' | 'commit' =>
  mode === FOLDER_MODE ? 'tree' : mode === SUBMODULE_MODE ? 'commit' : 'blob';

/** The entries of a tree; undefined when there is none. */
export async function readTree(git: GitFolder, oid: string): Promise<TreeEntry[] | undefined> {
  const object = await git.read(oid);
  return object?.type === 'tree' ? parseTree(object.content, oid.length / 2) : undefined;
}

/** The entry at the path below the tree, or undefined. An empty path is the tree itself. */
export async function findEntry(
  git: GitFolder,
  tree: string,
  path: readonly string[],
): Promise<TreeEntry | undefined> {
  let entry: TreeEntry | undefined = { mode: FOLDER_MODE, name: '', oid: tree };
  for (const name of path) {
    if (entry.mode !== FOLDER_MODE) return undefined;
    const entries: TreeEntry[] | undefined = await readTree(git, entry.oid);
    entry = entries?.find((each) => each.name === name);
    if (!entry) return undefined;
  }
  return entry;
}

/** Maximum of files and folders in a commit, or changed by it, for lists, searches and diffs. */
export const MAX_FILES = 500_000;
/** Folders counted before git is asked: a dozen objects can form an endless tree, and are counted at once. */
const MAX_COUNTED_FOLDERS = 1_000;

/**
 * The number of files and folders below `to` that differ from those below `from`, each as often as it occurs;
 * 422 when too many. Each folder is read once, up to a maximum: git counts the rest within its own limits.
 */
export async function countFiles(git: GitFolder, to: string, from?: string): Promise<number> {
  const counts = new Map<string, number>();
  let looked = 0;

  async function count(after: string | undefined, before: string | undefined): Promise<number> {
    const key = `${after} ${before}`;
    const known = counts.get(key);
    if (known !== undefined) return known;
    if (after === before || counts.size >= MAX_COUNTED_FOLDERS) return 0;
    counts.set(key, 0);
    const [left, right] = await Promise.all([entriesOf(before), entriesOf(after)]);
    let files = 0;
    for (const name of namesOf(left, right)) {
      looked += 1;
      if (looked % ENTRIES_PER_TURN === 0) await nextTurn();
      const [old, made] = [left.get(name), right.get(name)];
      if (old?.oid === made?.oid) continue;
      const [oldFolder, newFolder] = [folderOf(old), folderOf(made)];
      files += 1;
      if (oldFolder || newFolder) files += await count(newFolder, oldFolder);
      if (files > MAX_FILES) throw tooLarge();
    }
    counts.set(key, files);
    return files;
  }

  async function entriesOf(oid: string | undefined): Promise<Map<string, TreeEntry>> {
    const entries = oid === undefined ? undefined : await readTree(git, oid);
    const byName = new Map<string, TreeEntry>();
    for (const entry of entries ?? []) {
      byName.set(entry.name, entry);
      looked += 1;
      if (looked % ENTRIES_PER_TURN === 0) await nextTurn();
    }
    return byName;
  }

  return count(await treeOf(git, to), from === undefined ? undefined : await treeOf(git, from));
}

/** Each name of both, once. */
function* namesOf(
  left: ReadonlyMap<string, unknown>,
  right: ReadonlyMap<string, unknown>,
): Generator<string> {
  yield* left.keys();
  for (const name of right.keys()) if (!left.has(name)) yield name;
}

const folderOf = (entry: TreeEntry | undefined): string | undefined =>
  entry?.mode === FOLDER_MODE ? entry.oid : undefined;

/** The tree of a commit, or the tree itself. */
async function treeOf(git: GitFolder, oid: string): Promise<string> {
  const info = await git.info(oid);
  const commit = info?.type === 'commit' ? await git.read(oid, info) : undefined;
  return commit ? parseCommit(oid, commit.content).tree : oid;
}

export type PathEntry = TreeEntry & { path: string };

const MAX_WALKED = 100_000;
/** Yields also between cached folders, which are there at once. */
const ENTRIES_PER_TURN = 1_000;

/** All entries below the tree, folders before their contents, in git's order, lazily. 422 for too many. */
export async function* walkTree(git: GitFolder, oid: string, prefix = ''): AsyncGenerator<PathEntry> {
  let walked = 0;
  async function* walk(tree: string, above: string): AsyncGenerator<PathEntry> {
    for (const entry of (await readTree(git, tree)) ?? []) {
      walked += 1;
      if (walked > MAX_WALKED) throw tooLarge();
      if (walked % ENTRIES_PER_TURN === 0) await nextTurn();
      const path = `${above}${entry.name}`;
      yield { ...entry, path };
      if (entry.mode === FOLDER_MODE) yield* walk(entry.oid, `${path}/`);
    }
  }
  yield* walk(oid, prefix);
}

/** A change of one path: a new entry, or a removal. */
export type TreeChange = { path: readonly string[]; entry: { mode: string; oid: string } | undefined };

type Branch = { entry?: TreeChange['entry']; set: boolean; below: Map<string, Branch> };

/** A path goes through a file, or a file would replace a folder. */
export class PathConflict extends Error {
  readonly path: string;
  constructor(path: string) {
    super(`a file is in the way at ${path}`);
    this.path = path;
  }
}

/**
 * The tree with the changes, and the new trees to store. The last change of a path counts; removals come
 * before additions below them. Empty folders are removed. Throws PathConflict.
 */
export async function editTree(
  git: GitFolder,
  tree: string | undefined,
  changes: readonly TreeChange[],
): Promise<{ oid: string; objects: NewObject[] }> {
  const root: Branch = { set: false, below: new Map() };
  for (const { path, entry } of changes) {
    let at = root;
    for (const name of path) {
      const next = at.below.get(name) ?? { set: false, below: new Map<string, Branch>() };
      at.below.set(name, next);
      at = next;
    }
    at.set = true;
    at.entry = entry;
  }
  const objects: NewObject[] = [];
  const oid = await edit(git, tree, root, '', objects);
  if (oid !== undefined) return { oid, objects };
  const empty = treeObject([]);
  return { oid: empty.oid, objects: [...objects, empty] };
}

/** The new tree's id, or undefined when it is empty. */
async function edit(
  git: GitFolder,
  tree: string | undefined,
  branch: Branch,
  prefix: string,
  objects: NewObject[],
): Promise<string | undefined> {
  const entries = new Map(
    (tree === undefined ? [] : ((await readTree(git, tree)) ?? [])).map((each) => [each.name, each]),
  );
  for (const [name, below] of branch.below) {
    const path = `${prefix}${name}`;
    const existing = entries.get(name);
    const filled = [...below.below.values()].some(holdsSomething);
    if (below.set && below.entry !== undefined && filled) throw new PathConflict(path);
    if (below.set) {
      if (below.entry) {
        // A file may not replace a folder with remaining entries.
        const stays =
          existing?.mode === FOLDER_MODE &&
          (await edit(git, existing.oid, { ...below, set: false }, `${path}/`, [])) !== undefined;
        if (stays) throw new PathConflict(path);
        entries.set(name, { name, ...below.entry });
        continue;
      }
      entries.delete(name);
      if (!filled) continue;
    }
    const folder = below.set ? undefined : existing;
    if (folder && folder.mode !== FOLDER_MODE) throw new PathConflict(path);
    const oid = await edit(git, folder?.oid, below, `${path}/`, objects);
    if (oid === undefined) entries.delete(name);
    else entries.set(name, { mode: FOLDER_MODE, name, oid });
  }
  if (entries.size === 0) return undefined;
  const made = await newTree([...entries.values()]);
  if (made.oid !== tree) objects.push(made);
  return made.oid;
}

const holdsSomething = (branch: Branch): boolean =>
  (branch.set && branch.entry !== undefined) || [...branch.below.values()].some(holdsSomething);
