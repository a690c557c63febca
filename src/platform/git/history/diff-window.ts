/** Reads a part of a long difference: the list of its files is made once, and then only the patches that are shown. */
import { createCommitCache } from './commit-cache.ts';
import { type Compared, readPatches, runDiffTree } from './diff-runs.ts';
import type { Window } from './history.ts';
import { type Diff, type FileEntry, type FileList, parseFileList } from './parse-diff.ts';

const pathsOf = (entries: readonly FileEntry[]): string[] => [
  ...new Set(entries.flatMap(({ old_path, new_path }) => [old_path, new_path])),
];
const lengthOf = (paths: readonly string[]): number => paths.reduce((sum, path) => sum + path.length, 0);

/** A cache: pages of one difference follow each other, and each needs the list of its files. */
const fileLists = createCommitCache<FileList>(16, ({ entries }) => lengthOf(pathsOf(entries)) < 524_288);

const readFileList = (compared: Compared): Promise<FileList> => {
  const { place, ends, renames } = compared;
  return fileLists(`${place.folder} ${ends.from} ${ends.to} ${renames}`, async () => {
    const { parsed, failure } = await runDiffTree(compared, { output: ['--raw'] }, parseFileList);
    if (failure) throw failure;
    return parsed;
  });
};

/** In characters: a program's arguments are bounded. */
const MAX_PATHS_LENGTH = 262_144;

/**
 * The files of a window of a long difference, without the patches before it. Undefined where git, asked for these files
 * alone, compares others: a name that is no text, a folder that was a file, a rename that it finds among few files only.
 */
export async function readWindow(
  compared: Compared,
  unidiff: boolean | undefined,
  { offset, limit }: Window,
): Promise<Diff | undefined> {
  const { entries, more, isText } = await readFileList(compared);
  const total = entries.length;
  const wanted = entries.slice(offset, offset + limit);
  if (wanted.length === 0) return { files: [], total, overflow: more };
  const paths = pathsOf(wanted);
  if (!isText || lengthOf(paths) > MAX_PATHS_LENGTH) return undefined;
  const { files, overflow } = await readPatches(compared, { unidiff }, paths);
  const isWanted = (file: FileEntry, index: number): boolean => {
    const entry = wanted[index];
    return (
      file.old_path === entry?.old_path &&
      file.new_path === entry.new_path &&
      file.a_mode === entry.a_mode &&
      file.b_mode === entry.b_mode
    );
  };
  if (files.length !== wanted.length || !files.every(isWanted)) return undefined;
  return { files, total, overflow: more || overflow };
}
