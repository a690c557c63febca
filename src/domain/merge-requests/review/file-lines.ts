/** Reads the lines of a file at a commit. */
import type { GitFolder } from '../../../platform/git/objects.ts';
import { peelToCommit } from '../../../platform/git/refs.ts';
import { entryType, findEntry } from '../../../platform/git/trees.ts';
import { type FileLines, readLines } from './suggestions.ts';

/** Lines of larger files are not read: all of it is in memory at once. */
const MAX_FILE_BYTES = 10 * 1_048_576;

/** Undefined where there is no file at the path, or a too large one. */
export async function readFileLines(
  git: GitFolder,
  commit: string,
  path: string,
): Promise<FileLines | undefined> {
  const tree = (await peelToCommit(git, commit))?.tree;
  const entry = tree === undefined ? undefined : await findEntry(git, tree, path.split('/'));
  if (!entry || entryType(entry) !== 'blob') return undefined;
  const info = await git.info(entry.oid);
  if (!info || info.size > MAX_FILE_BYTES) return undefined;
  const blob = await git.read(info.oid, info);
  return blob && readLines(blob.content);
}
