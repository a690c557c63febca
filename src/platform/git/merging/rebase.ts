/** Commits made again upon another commit, as `git rebase` does, without a work tree. */
import { EMPTY_TREE } from '../history/diff.ts';
import type { GitFolder } from '../objects.ts';
import type { Commit, NewObject, Signature } from '../parse.ts';
import { textInTime } from '../program/long-runs.ts';
import { tooLarge } from '../program/program.ts';
import { readKnownCommit } from './known-commit.ts';
import { withQuarantine } from './quarantine.ts';
import { replay } from './replay.ts';
import { rewrittenCommit } from './rewritten-commit.ts';

export type Rebase = {
  /** Ids of commits: those of `head` that are not of `onto` are made again upon it. */
  onto: string;
  head: string;
  committer: Signature;
};

export type RebaseResult =
  /** `objects` are the new commits, still to be stored; their trees are, and durable. */
  | { result: 'rebased'; head: string; objects: NewObject[] }
  /** The commit that conflicts, and the names of files. */
  | { result: 'conflict'; commit: string; paths: string[] }
  | { result: 'too_many' };

/** Above this number of commits nothing is rebased. */
export const MAX_REBASED_COMMITS = 1_000;
/** Bytes of their texts, which are in memory together. */
const MAX_TEXT_BYTES = 16 * 1_048_576;
const READ_AT_ONCE = 20;

/** A commit to be made again, with the tree that it changes. */
type Original = { commit: Commit; content: Buffer; base: string };

/**
 * Rebases as `git rebase` does: merges are left out and what they joined becomes one line; so are commits whose
 * change `onto` has already, and those of which nothing is left; those that were empty before stay, and so do
 * commits that stand where they should. 422 where it takes too long.
 */
export async function rebaseCommits(git: GitFolder, rebase: Rebase): Promise<RebaseResult> {
  const listed = await listOriginals(git, rebase);
  if (listed.length > MAX_REBASED_COMMITS) return { result: 'too_many' };
  const originals = await readOriginals(git, listed);
  let { commit: head } = await readKnownCommit(git, rebase.onto);
  // Those that stand where they should.
  for (; originals[0]?.commit.parents[0] === head.oid; originals.shift()) head = originals[0].commit;
  if (originals.length === 0) return { result: 'rebased', head: head.oid, objects: [] };
  return withQuarantine(git.folder, async (apart) => {
    const changes = originals.map(({ base, commit }) => ({ base, theirs: commit.tree }));
    const { trees, conflict } = await replay(apart, head.tree, changes);
    const failed = originals[trees.length]?.commit.oid;
    if (conflict && failed !== undefined) return { result: 'conflict', commit: failed, paths: conflict };
    await apart.keep();
    const objects = newCommits(head, originals, trees, rebase.committer);
    return { result: 'rebased', head: objects.at(-1)?.oid ?? head.oid, objects };
  });
}

/** The ids of commits to be made again, oldest first, up to one more than can be. */
async function listOriginals(git: GitFolder, { onto, head }: Rebase): Promise<string[]> {
  const chosen = [
    '--cherry-mark',
    '--right-only',
    '--max-parents=1',
    `--max-count=${MAX_REBASED_COMMITS + 1}`,
  ];
  const args = ['rev-list', ...chosen, '--topo-order', '--reverse', `${onto}...${head}`, '--'];
  const text = await textInTime(args, { folder: git.folder });
  return text.split('\n').filter((line) => line !== '');
}

/** Reads the commits but for those that are marked: `onto` has the change of them, unless they have none. */
async function readOriginals(git: GitFolder, marked: readonly string[]): Promise<Original[]> {
  const originals: Original[] = [];
  let bytes = 0;
  for (let at = 0; at < marked.length; at += READ_AT_ONCE) {
    const read = marked.slice(at, at + READ_AT_ONCE).map(async (line) => {
      const { commit, content } = await readKnownCommit(git, line.slice(1));
      const [parent] = commit.parents;
      const base = parent === undefined ? EMPTY_TREE : (await readKnownCommit(git, parent)).commit.tree;
      return { isKnown: line.startsWith('=') && base !== commit.tree, commit, content, base };
    });
    for (const { isKnown, ...original } of await Promise.all(read)) {
      bytes += original.content.length;
      if (!isKnown) originals.push(original);
    }
    if (bytes > MAX_TEXT_BYTES) throw tooLarge();
  }
  return originals;
}

/** The new commits, one upon the other, with their trees. */
function newCommits(
  head: Commit,
  originals: readonly Original[],
  trees: readonly string[],
  committer: Signature,
): NewObject[] {
  const objects: NewObject[] = [];
  let last = head.tree;
  for (const [index, { commit, content, base }] of originals.entries()) {
    const tree = trees[index] ?? last;
    if (tree === last && base !== commit.tree) continue;
    const parents = [objects.at(-1)?.oid ?? head.oid];
    objects.push(rewrittenCommit(content, { tree, parents, committer }));
    last = tree;
  }
  return objects;
}
