/** The last commit that changed a path, found in the history without a process per lookup. */

import type { GitFolder } from '../objects.ts';
import { type Commit, parseCommit } from '../parse.ts';
import { gitInTime } from '../program/long-runs.ts';
import { FOLDER_MODE, readTree } from '../trees.ts';
import { createCommitCache } from './commit-cache.ts';

/** Above so many commits or tree entries, git itself takes over: it is faster on long walks. */
const MAX_STEPS = 1_000;
const MAX_ENTRIES = 100_000;

const cache = createCommitCache<string | undefined>(20_000);

/**
 * The id of the last commit at or before `head` that changed the path, as `git log -1 -- <path>` finds it:
 * where a commit equals one of its parents there, only the first such parent is followed. Undefined where none had it.
 */
export const lastCommitOf = (
  git: GitFolder,
  head: Commit,
  path: readonly string[],
): Promise<string | undefined> =>
  cache(`${git.folder} ${head.oid} ${path.join('/')}`, () => walk(git, head, path));

async function walk(git: GitFolder, head: Commit, path: readonly string[]): Promise<string | undefined> {
  let looked = 0;

  /** The object at each part of the path, as far as it goes, or as far as it differs from `known`. */
  async function trailOf(tree: string, known: readonly string[] = []): Promise<readonly string[]> {
    const trail = [tree];
    for (const [depth, name] of path.entries()) {
      const at = trail[depth];
      if (at === undefined || at === known[depth]) return [...trail, ...known.slice(depth + 1)];
      const entries = (await readTree(git, at)) ?? [];
      looked += entries.length;
      const entry = entries.find((each) => each.name === name);
      if (!entry) return trail;
      const last = depth === path.length - 1;
      if (!last && entry.mode !== FOLDER_MODE) return trail;
      // A file that became executable has changed.
      trail.push(last ? `${entry.mode} ${entry.oid}` : entry.oid);
    }
    return trail;
  }

  let commit = head;
  let trail = await trailOf(head.tree);
  for (let step = 0; step < MAX_STEPS && looked < MAX_ENTRIES; step++) {
    const same = await sameParent(commit, trail);
    if (same === 'first') return trail[path.length] === undefined ? undefined : commit.oid;
    if (!same) return commit.oid;
    ({ commit, trail } = same);
  }
  const args = ['rev-list', '-1', commit.oid, '--', path.join('/')];
  const environment = { GIT_LITERAL_PATHSPECS: '1' };
  return (await gitInTime(args, { folder: git.folder, environment })).toString('latin1').trim() || undefined;

  /** Undefined where the commit differs from each of its parents; `first` where it has none. */
  async function sameParent(child: Commit, known: readonly string[]) {
    let isFirst = true;
    for (const oid of child.parents) {
      const object = await git.read(oid);
      // A shallow history ends here.
      if (object?.type !== 'commit') continue;
      isFirst = false;
      const parent = parseCommit(oid, object.content);
      const found = await trailOf(parent.tree, known);
      if (found[path.length] === known[path.length]) return { commit: parent, trail: found };
    }
    return isFirst ? ('first' as const) : undefined;
  }
}
