/** The commits, branches and tags that a project's description means, and what is wrong with them. Pure. */
import { isRefName, pathComponents } from '../../platform/git/names.ts';
import { type Path, quoted } from './read-document.ts';
import type { SeedCommit, SeedFile, SeedProject } from './schema.ts';
import type { Problem } from './structure.ts';

export const DEFAULT_BRANCH = 'main';

export type Leaf = { text: string | Buffer; mode: '100644' | '100755' | '120000' };
export type Folder = Map<string, Leaf | Folder>;

export type PlannedCommit = {
  message: string;
  /** A username, or `Name <address>`. */
  author: string;
  committer: string;
  /** ISO 8601, with its zone. */
  date: string;
  committed: string;
  /** Indexes of commits before it. */
  parents: readonly number[];
  files: Folder;
};

export type PlannedTag = { commit: number; message?: string; tagger: string; date: string };

export type History = {
  commits: readonly PlannedCommit[];
  /** Indexes of commits by the names of branches. */
  branches: ReadonlyMap<string, number>;
  tags: ReadonlyMap<string, PlannedTag>;
  /** Indexes of commits by the ids of the description. */
  ids: ReadonlyMap<string, number>;
};

/** `Name <address>`; undefined for a username. */
export function personIn(text: string): { name: string; email: string } | undefined {
  const [, name, email] = /^([^<>\n]*?) ?<([^<>\n]*)>$/.exec(text) ?? [];
  return name === undefined || email === undefined ? undefined : { name, email };
}

/** The same document has the same commits, whenever it is planted. */
const FIRST_DATE = Date.parse('2026-01-01T00:00:00Z');
const MINUTE_MS = 60_000;
/** Entries of folders that a history may copy: beyond that it is made to take up the memory. */
const MAX_COPIED = 20_000_000;

const isFolder = (entry: Leaf | Folder | undefined): entry is Folder => entry instanceof Map;

/** `at` is the project's path in the document. */
export function planHistory(project: SeedProject, at: Path): { history: History; problems: Problem[] } {
  const problems: Problem[] = [];
  const say = (path: Path, message: string) => problems.push({ message, path: [...at, ...path] });
  const commits: PlannedCommit[] = [];
  const ids = new Map<string, number>();
  const heads = new Map<string, number>();
  const budget = { copied: 0 };
  const main = project.default_branch ?? DEFAULT_BRANCH;
  let date = new Date(FIRST_DATE).toISOString();

  function parentsOf({ parents, branch = main }: SeedCommit, path: Path): number[] {
    if (!parents) return [heads.get(branch) ?? heads.get(main) ?? []].flat();
    return parents.flatMap((id, index) => {
      const parent = ids.get(id);
      if (parent === undefined)
        say([...path, 'parents', index], `no commit before this one has the id ${quoted(id)}`);
      return parent ?? [];
    });
  }

  function add(commit: SeedCommit, path: Path): void {
    const { author = 'root', branch = main, id } = commit;
    const parents = parentsOf(commit, path);
    const [first] = parents;
    const base = first === undefined ? new Map() : (commits[first]?.files ?? new Map());
    const files = applyFiles(base, commit.files ?? {}, budget, (file, message) =>
      say([...path, 'files', file], message),
    );
    if (commit.date !== undefined) date = commit.date;
    else if (commits.length > 0) date = new Date(Date.parse(date) + MINUTE_MS).toISOString();
    const { message, committer = author, committed = date } = commit;
    heads.set(branch, commits.length);
    if (id !== undefined) {
      if (ids.has(id)) say([...path, 'id'], `another commit has the id ${quoted(id)}`);
      ids.set(id, commits.length);
    }
    if (!isRefName(branch)) say([...path, 'branch'], `a branch cannot be called ${quoted(branch)}`);
    commits.push({ message, author, committer, date, committed, parents, files });
  }

  if (!isRefName(main)) say(['default_branch'], `a branch cannot be called ${quoted(main)}`);
  if (project.files) {
    const author = 'root';
    const parents: number[] = [];
    const files = applyFiles(new Map(), project.files, budget, (file, message) =>
      say(['files', file], message),
    );
    commits.push({
      message: 'Initial commit',
      author,
      committer: author,
      date,
      committed: date,
      parents,
      files,
    });
    heads.set(main, 0);
  }
  for (const [index, commit] of (project.commits ?? []).entries()) {
    if (budget.copied > MAX_COPIED) break;
    add(commit, ['commits', index]);
  }
  if (budget.copied > MAX_COPIED) say(['commits'], 'its folders are too large for so many commits');

  const made = new Map(heads);
  const commitOf = (target: string): number | undefined => ids.get(target) ?? made.get(target);
  for (const [name, target] of Object.entries(project.branches ?? {})) {
    const commit = commitOf(target);
    if (commit === undefined) say(['branches', name], `${quoted(target)} is no commit's id and no branch`);
    else heads.set(name, commit);
    if (!isRefName(name)) say(['branches', name], `a branch cannot be called ${quoted(name)}`);
  }
  refuseNested('branch', heads.keys(), (message) => say([], message));
  if (heads.size > 0 && !heads.has(main)) say([], `no commit is on its default branch, ${quoted(main)}`);
  const tags = new Map<string, PlannedTag>();
  for (const [name, given] of Object.entries(project.tags ?? {})) {
    const tag = typeof given === 'string' ? { target: given } : given;
    const commit = ids.get(tag.target) ?? heads.get(tag.target);
    const tagged = commit === undefined ? undefined : commits[commit];
    if (!isRefName(name)) say(['tags', name], `a tag cannot be called ${quoted(name)}`);
    if (commit === undefined || !tagged)
      say(['tags', name], `${quoted(tag.target)} is no commit's id and no branch`);
    else {
      const { message, tagger = 'root', date = tagged.committed } = tag;
      tags.set(name, { commit, tagger, date, ...(message !== undefined && { message }) });
    }
  }
  refuseNested('tag', tags.keys(), (message) => say([], message));
  return { history: { commits, branches: heads, tags, ids }, problems };
}

/** Refs are files: one cannot be below another. */
function refuseNested(kind: string, names: Iterable<string>, say: (message: string) => void): void {
  // Others are refused by themselves, and may be long.
  const all = new Set([...names].filter(isRefName));
  for (const name of all)
    for (let end = name.indexOf('/'); end >= 0; end = name.indexOf('/', end + 1))
      if (all.has(name.slice(0, end)))
        say(`it cannot have a ${kind} ${quoted(name)} beside one called ${quoted(name.slice(0, end))}`);
}

function leafOf(file: NonNullable<SeedFile>): Leaf | string {
  if (typeof file === 'string') return { text: file, mode: '100644' };
  const { content, base64, executable = false, symlink = false } = file;
  if ((content === undefined) === (base64 === undefined)) return 'a file has either "content" or "base64"';
  if (executable && symlink) return 'a link is not executable';
  const text = content ?? Buffer.from(base64 ?? '', 'base64');
  return { text, mode: symlink ? '120000' : executable ? '100755' : '100644' };
}

/** The folder after the changes; folders that are not changed are shared. */
function applyFiles(
  base: Folder,
  files: Readonly<Record<string, SeedFile>>,
  budget: { copied: number },
  say: (file: string, message: string) => void,
): Folder {
  const own = new Set<Folder>();
  const owned = (folder: Folder): Folder => {
    if (own.has(folder)) return folder;
    const copy = new Map(folder);
    budget.copied += folder.size + 1;
    own.add(copy);
    return copy;
  };
  const root = owned(base);
  // What is removed makes room for what is new.
  const changes = Object.entries(files).sort(
    ([, left], [, right]) => Number(right === null) - Number(left === null),
  );
  for (const [file, content] of changes) {
    const parts = pathComponents(file);
    const leaf = content === null ? undefined : leafOf(content);
    if (!parts) say(file, `a repository cannot have the path ${quoted(file)}`);
    else if (typeof leaf === 'string') say(file, leaf);
    else {
      const problem = put(root, parts, leaf, owned);
      if (problem !== undefined) say(file, problem);
    }
  }
  return root;
}

function put(
  root: Folder,
  parts: readonly string[],
  leaf: Leaf | undefined,
  owned: (folder: Folder) => Folder,
): string | undefined {
  const way: { folder: Folder; name: string }[] = [];
  let folder = root;
  for (const name of parts.slice(0, -1)) {
    const below = folder.get(name);
    if (below !== undefined && !isFolder(below)) return `${quoted(name)} is a file, and no folder`;
    if (below === undefined && !leaf) return 'there is no such file to be removed';
    const mine = owned(below ?? new Map());
    folder.set(name, mine);
    way.push({ folder, name });
    folder = mine;
  }
  const last = parts.at(-1) ?? '';
  const there = folder.get(last);
  if (isFolder(there)) return `${quoted(last)} is a folder, and no file`;
  if (leaf) folder.set(last, leaf);
  else if (!folder.delete(last)) return 'there is no such file to be removed';
  for (const { folder: above, name } of way.reverse()) {
    const below = above.get(name);
    if (isFolder(below) && below.size === 0) above.delete(name);
  }
  return undefined;
}
