/** What a push brings: commits that no branch or tag has yet, and the files that they have. Of bounded number and size. */

import { takeTurns } from '../../turns.ts';
import { MAX_LIST_BYTES } from '../history/changed-files.ts';
import type { ObjectFolder } from '../history/history.ts';
import { type Commit, decode, MAX_PARSED_BYTES, parseCommit } from '../parse.ts';
import { gitInTime } from '../program/long-runs.ts';

/** Commits of a push that are looked at. */
const MAX_NEW_COMMITS = 10_000;
/** Bytes of commits: thousands of ordinary ones are less. */
const MAX_COMMIT_BYTES = 16 * 1_048_576;

/** The ids of the commits, one a line, for git; incomplete where there are too many. */
export async function newCommitIds(
  place: ObjectFolder,
  heads: readonly string[],
): Promise<{ ids: Buffer; isComplete: boolean }> {
  const range = [`--max-count=${MAX_NEW_COMMITS + 1}`, '--stdin', '--not', '--branches', '--tags'];
  const input = [...new Set(heads)].map((head) => `${head}\n`).join('');
  const ids = await gitInTime(['rev-list', ...range], { ...place, input });
  return { ids, isComplete: ids.length <= MAX_NEW_COMMITS * (ids.indexOf(10) + 1) };
}

/** The commits of these ids; undefined where one of them, or all together, are too long to be read. */
export async function readNewCommits(place: ObjectFolder, ids: Buffer): Promise<Commit[] | undefined> {
  const options = { ...place, input: ids, maximumOutput: MAX_COMMIT_BYTES, cutOutput: true };
  const output = await gitInTime(['cat-file', '--batch', '--buffer'], options);
  if (output.length >= MAX_COMMIT_BYTES) return undefined;
  const turn = takeTurns();
  const commits: Commit[] = [];
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(10, at);
    const [oid = '', , size] = output.toString('latin1', at, end).split(' ');
    // Such a commit is read nowhere.
    if (Number(size) > MAX_PARSED_BYTES.commit) return undefined;
    const begin = end + 1;
    at = begin + Number(size) + 1;
    commits.push(parseCommit(oid, output.subarray(begin, at - 1)));
    await turn();
  }
  return commits;
}

export type NewFile = { path: string; oid: string; isNew: boolean };

/**
 * The files that the commits make and change; undefined where they are too many. A renamed file is a new one, and a merge has what is in
 * none of its parents.
 */
export async function newFilesOf(place: ObjectFolder, ids: Buffer): Promise<NewFile[] | undefined> {
  const form = ['--root', '-c', '-r', '--raw', '--no-commit-id', '-z', '--no-renames', '--no-abbrev'];
  const options = { ...place, input: ids, maximumOutput: MAX_LIST_BYTES, cutOutput: true };
  const output = await gitInTime(['diff-tree', '--stdin', ...form], options);
  if (output.length >= MAX_LIST_BYTES) return undefined;
  const turn = takeTurns();
  const files: NewFile[] = [];
  for (let at = 0; ; ) {
    const ofChange = output.indexOf(0, at);
    const ofPath = ofChange < 0 ? -1 : output.indexOf(0, ofChange + 1);
    if (ofPath < 0) return files;
    // `:mode mode oid oid A`; of a merge a colon, a mode, an id and a letter for each parent, then those of the result.
    const parts = output.toString('latin1', at, ofChange).split(' ');
    const oid = parts.at(-2) ?? '';
    const letters = parts.at(-1) ?? '';
    if (!/^0*$/.test(oid)) {
      const path = decode(output.subarray(ofChange + 1, ofPath));
      files.push({ path, oid, isNew: /^A+$/.test(letters) });
    }
    at = ofPath + 1;
    await turn();
  }
}

/** Those of the blobs that have more bytes. */
export async function largerThan(
  place: ObjectFolder,
  oids: ReadonlySet<string>,
  bytes: number,
): Promise<Set<string>> {
  const input = [...oids].map((oid) => `${oid}\n`).join('');
  const form = '--batch-check=%(objectname) %(objecttype) %(objectsize)';
  const output = await gitInTime(['cat-file', form, '--buffer'], { ...place, input });
  const large = new Set<string>();
  for (const [, oid = '', size] of output.toString('latin1').matchAll(/^([0-9a-f]+) blob (\d+)$/gm))
    if (Number(size) > bytes) large.add(oid);
  return large;
}

/**
 * The paths that are changed by commits of the heads which no branch or tag has yet; incomplete where there are too many of either. A merge
 * changes what is in none of its parents.
 */
export async function pathsOfNewCommits(
  place: ObjectFolder,
  heads: readonly string[],
): Promise<{ paths: string[]; isComplete: boolean }> {
  const { ids, isComplete } = await newCommitIds(place, heads);
  if (ids.length === 0 || !isComplete) return { paths: [], isComplete };
  const form = ['--root', '-c', '-r', '--name-only', '--no-commit-id', '-z', '--no-renames'];
  const options = { ...place, input: ids, maximumOutput: MAX_LIST_BYTES, cutOutput: true };
  const output = await gitInTime(['diff-tree', '--stdin', ...form], options);
  const paths = decode(output.subarray(0, output.lastIndexOf(0) + 1)).split('\0');
  return {
    paths: [...new Set(paths)].filter((path) => path !== ''),
    isComplete: output.length < MAX_LIST_BYTES,
  };
}

/** Merges of a push that are looked at. */
const MAX_NEW_MERGES = 500;

/** The merges among the commits of the heads that no branch or tag has yet: each with its parents; undefined for too many. */
export async function newMerges(
  place: ObjectFolder,
  heads: readonly string[],
): Promise<{ merge: string; parents: string[] }[] | undefined> {
  const range = ['--merges', '--parents', `--max-count=${MAX_NEW_MERGES + 1}`];
  const input = [...new Set(heads)].map((head) => `${head}\n`).join('');
  const args = ['rev-list', ...range, '--stdin', '--not', '--branches', '--tags'];
  const lines = decode(await gitInTime(args, { ...place, input })).split('\n');
  const found = lines.flatMap((line) => {
    const [merge, ...parents] = line.split(' ');
    return merge ? [{ merge, parents }] : [];
  });
  return found.length > MAX_NEW_MERGES ? undefined : found;
}
