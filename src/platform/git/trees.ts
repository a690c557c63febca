/** Trees: what is at a path, what is below it, and a tree with some paths changed. */
import type { GitFolder } from './objects.ts';
import { type NewObject, parseTree, type TreeEntry, treeObject } from './parse.ts';

export const FOLDER_MODE = '40000';
const SUBMODULE_MODE = '160000';

/** What the API calls an entry: `tree`, `blob`, or `commit` for a submodule. */
export const entryType = ({ mode }: Pick<TreeEntry, 'mode'>): 'tree' | 'blob' | 'commit' =>
  mode === FOLDER_MODE ? 'tree' : mode === SUBMODULE_MODE ? 'commit' : 'blob';

/** The entries of a tree; undefined when there is no such tree. */
export async function readTree(git: GitFolder, oid: string): Promise<TreeEntry[] | undefined> {
  const object = await git.read(oid);
  return object?.type === 'tree' ? parseTree(object.content, oid.length / 2) : undefined;
}

/** What is at the path below the tree; undefined when nothing is. An empty path is the tree itself. */
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

export type PlacedEntry = TreeEntry & { path: string };

/** Everything below the tree, folders before what is in them, in git's order; as far as the caller asks. */
export async function* walkTree(git: GitFolder, oid: string, prefix = ''): AsyncGenerator<PlacedEntry> {
  for (const entry of (await readTree(git, oid)) ?? []) {
    const path = `${prefix}${entry.name}`;
    yield { ...entry, path };
    if (entry.mode === FOLDER_MODE) yield* walkTree(git, entry.oid, `${path}/`);
  }
}

/** A change of one path: an entry to be there, or nothing. */
export type TreeChange = { path: readonly string[]; entry: { mode: string; oid: string } | undefined };

type Branch = { entry?: TreeChange['entry']; set: boolean; below: Map<string, Branch> };

/** A path goes through a file, or a file would take the place of a folder. */
export class PathConflict extends Error {
  readonly path: string;
  constructor(path: string) {
    super(`a file is in the way at ${path}`);
    this.path = path;
  }
}

/**
 * The tree with the changes, and the trees that must be stored for it. The last of several changes of one path counts; what
 * goes is gone before anything is put below it. Folders that become empty go. Throws PathConflict.
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

/** The new tree's id, or undefined when it has become empty. */
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
        // A file may not take the place of a folder of which anything stays.
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
  const made = treeObject([...entries.values()]);
  if (made.oid !== tree) objects.push(made);
  return made.oid;
}

const holdsSomething = (branch: Branch): boolean =>
  (branch.set && branch.entry !== undefined) || [...branch.below.values()].some(holdsSomething);
