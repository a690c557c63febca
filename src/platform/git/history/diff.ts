/** Differences of two trees: a record per file, with its patch unless that is too long; and line counts. */
import { Failure } from '../../failure.ts';
import type { GitFolder } from '../objects.ts';
import { decode } from '../parse.ts';
import { textInTime } from '../program/long-runs.ts';
import {
  endingError,
  LONG_RUN_TIMEOUT_MS,
  longRuns,
  OutOfMemory,
  spawnGit,
  tooLarge,
} from '../program/program.ts';
import { countFiles } from '../trees.ts';
import type { ObjectFolder, Window } from './history.ts';

/** The empty tree, to compare a first commit with; every git knows it. */
export const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

export type FileDiff = {
  /** The hunks, or the sentence about binary files; empty where only the name or the mode changed. */
  diff: string;
  /** Left out because the whole diff is too long. */
  collapsed: boolean;
  /** Left out because this patch is too long. */
  too_large: boolean;
  new_path: string;
  old_path: string;
  /** Octal; `0` where there was no file. */
  a_mode: string;
  b_mode: string;
  new_file: boolean;
  renamed_file: boolean;
  deleted_file: boolean;
  generated_file: boolean;
};

export type Diff = {
  /** The files of the window. */
  files: FileDiff[];
  /** The number of files in the whole diff, as far as it is listed. */
  total: number;
  /** Whether files or patches are left out because the whole diff is too long. */
  overflow: boolean;
};

/** Ids of trees or commits. */
export type DiffEnds = { from: string; to: string };

export type DiffOptions = {
  /** The lines `---` and `+++` before the hunks. */
  unidiff?: boolean | undefined;
  /** The range of files; all by default. */
  window?: Window;
};

const MAX_FILES = 3_000;
const MAX_PATCH_BYTES = 200 * 1_024;
const MAX_WHOLE_BYTES = 5 * 1_048_576;
/** For headers beside the hunks: two long names, four times each. */
const MAX_HEADER_BYTES = 65_536;

/**
 * Compares two trees; renames are found by content. Patches that would take too long, or too much memory, are left out; 422
 * where even the list of the files would.
 */
export async function readDiff(
  git: GitFolder,
  ends: DiffEnds,
  options: DiffOptions & { place?: ObjectFolder } = {},
): Promise<Diff> {
  const files = await countFiles(git, ends.to, ends.from);
  const { place = git, ...shown } = options;
  return withOrWithoutRenames(files, (renames) => longRuns.run(() => runDiff(place, ends, shown, renames)));
}

/** Above this number of files renames are not detected. */
const MAX_RENAMED = 20_000;

/** Detecting renames compares whole contents: falls back to none where that takes too much. */
async function withOrWithoutRenames<T>(files: number, run: (renames: string) => Promise<T>): Promise<T> {
  const without = '--no-renames';
  if (files > MAX_RENAMED) return run(without);
  try {
    return await run('-M');
  } catch (error) {
    if (error instanceof OutOfMemory) return run(without);
    throw error;
  }
}

async function runDiff(
  place: ObjectFolder,
  { from, to }: DiffEnds,
  options: DiffOptions,
  renames: string,
): Promise<Diff> {
  const args = [
    ...['-c', 'core.quotePath=false', 'diff-tree', '-r', renames, '-z', '--raw', '-p', '--full-index'],
    ...['--no-ext-diff', '--no-textconv', '--no-color', from, to, '--'],
  ];
  const deadline = AbortSignal.timeout(LONG_RUN_TIMEOUT_MS);
  const program = await spawnGit(args, { ...place, kind: 'long', signal: deadline });
  program.stdin.end();
  try {
    const { atEnd, ...diff } = await parseDiff(program.stdout, options);
    if (!atEnd) return diff;
    const ending = await program.ended;
    if (ending.code === 0) return diff;
    const error = deadline.aborted ? tooLarge() : endingError(['diff-tree'], place.folder, ending);
    if (!(error instanceof Failure) || diff.total === 0) throw error;
    return withoutLastPatch(diff);
  } finally {
    program.signal('SIGKILL');
    program.stdout.destroy();
  }
}

/** Drops the last patch, which may be incomplete. */
function withoutLastPatch(diff: Diff): Diff {
  const last = diff.files.findLastIndex((file) => file.diff !== '');
  const files = diff.files.map((file, index) =>
    index === last ? { ...file, diff: '', collapsed: true } : file,
  );
  return { ...diff, files, overflow: true };
}

type Entry = Omit<FileDiff, 'diff' | 'collapsed' | 'too_large'>;

const NUL = Buffer.of(0);
// No line of a hunk begins so, and names in headers have line breaks quoted.
const NEXT_PATCH = Buffer.from('\ndiff --git ');

/**
 * Parses `diff-tree -z --raw -p`: the list of files, an empty field, and a patch for each in the same order.
 * `atEnd` is whether all input was read: then only the exit code says whether it was complete.
 */
export async function parseDiff(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  { unidiff = false, window = { offset: 0, limit: MAX_FILES } }: DiffOptions = {},
): Promise<Diff & { atEnd: boolean }> {
  const next = pieces(chunks);
  const { entries, more } = await readEntries(next);
  const wanted = entries.slice(window.offset, window.offset + window.limit);
  for (let skipped = 0; skipped < window.offset && wanted.length > 0; skipped++) await next(NEXT_PATCH, 0);
  const files: FileDiff[] = [];
  let length = 0;
  let atEnd = entries.length === 0;
  for (const entry of wanted) {
    const patch = await next(NEXT_PATCH, MAX_PATCH_BYTES + MAX_HEADER_BYTES);
    atEnd = !patch || patch.isLast;
    if (!patch) break;
    const hunks = patch.length > patch.bytes.length ? undefined : hunksOf(patch.bytes, unidiff);
    const isTooLarge = hunks === undefined || hunks.length > MAX_PATCH_BYTES;
    length += isTooLarge ? 0 : hunks.length;
    if (length > MAX_WHOLE_BYTES) break;
    files.push({ diff: isTooLarge ? '' : decode(hunks), collapsed: false, too_large: isTooLarge, ...entry });
  }
  const left = wanted.slice(files.length);
  files.push(...left.map((entry) => ({ diff: '', collapsed: true, too_large: false, ...entry })));
  return { files, total: entries.length, overflow: more || left.length > 0, atEnd };
}

const rawLine = /^:(\d{6}) (\d{6}) [0-9a-f]+ [0-9a-f]+ ([A-Z])/;
const ABSENT = '0';

async function readEntries(next: NextPiece): Promise<{ entries: Entry[]; more: boolean }> {
  const entries: Entry[] = [];
  for (;;) {
    const line = await next(NUL, 512);
    const [, before, after, status] = rawLine.exec(line?.bytes.toString('latin1') ?? '') ?? [];
    if (before === undefined || after === undefined) return { entries, more: false };
    const old_path = await readPath(next);
    const new_path = status === 'R' ? await readPath(next) : old_path;
    // A file that became a link or a submodule has two patches: a deletion and an addition.
    const changes =
      status === 'T'
        ? [
            [before, ABSENT],
            [ABSENT, after],
          ]
        : [[status === 'A' ? ABSENT : before, status === 'D' ? ABSENT : after]];
    for (const [a_mode = ABSENT, b_mode = ABSENT] of changes) {
      if (entries.length === MAX_FILES) {
        await skipList(next);
        return { entries, more: true };
      }
      entries.push({
        new_path,
        old_path,
        a_mode,
        b_mode,
        new_file: a_mode === ABSENT,
        renamed_file: status === 'R',
        deleted_file: b_mode === ABSENT,
        generated_file: isGenerated(new_path),
      });
    }
  }
}

const readPath = async (next: NextPiece): Promise<string> =>
  decode((await next(NUL, 65_536))?.bytes ?? Buffer.alloc(0));

/** Skips the rest of the list, up to the empty field. */
async function skipList(next: NextPiece): Promise<void> {
  for (let field = await next(NUL, 0); field && field.length > 0; ) field = await next(NUL, 0);
}

const NEW_LINE = Buffer.from('\n');

/** The hunks after the headers of a patch, with a final line break. */
function hunksOf(patch: Buffer, unidiff: boolean): Buffer {
  const starts = [unidiff ? '\n--- ' : '\n@@ ', '\nBinary files ']
    .map((mark) => patch.indexOf(mark))
    .filter((at) => at >= 0);
  if (starts.length === 0) return Buffer.alloc(0);
  const hunks = patch.subarray(Math.min(...starts) + 1);
  return hunks.at(-1) === NEW_LINE[0] ? hunks : Buffer.concat([hunks, NEW_LINE]);
}

const generatedNames =
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|Cargo\.lock|Gopkg\.lock|poetry\.lock|composer\.lock|node_modules\/.+|[^/]+\.(pb\.go|min\.js|min\.css|js\.map|css\.map))$/;

/** Whether the name is that of a generated file, whose changes are not reviewed. */
export const isGenerated = (path: string): boolean => generatedNames.test(path);

type Piece = { bytes: Buffer; length: number; isLast: boolean };
/** The bytes before the next mark, of which `kept` are kept, and their full length; undefined at the end. */
type NextPiece = (mark: Buffer, kept: number) => Promise<Piece | undefined>;

/** Splits a stream at marks, buffering no more than the kept part of one piece. */
function pieces(chunks: AsyncIterable<Buffer> | Iterable<Buffer>): NextPiece {
  const source = (async function* () {
    yield* chunks;
  })();
  let held: Buffer = Buffer.alloc(0);
  let isOver = false;
  return async (mark, kept) => {
    const parts: Buffer[] = [];
    let length = 0;
    const take = (count: number) => {
      const part = held.subarray(0, Math.min(count, Math.max(0, kept - length)));
      if (part.length > 0) parts.push(part);
      length += count;
      held = held.subarray(count);
    };
    const piece = (isLast: boolean): Piece => ({ bytes: Buffer.concat(parts), length, isLast });
    for (;;) {
      const at = held.indexOf(mark);
      if (at >= 0) {
        take(at);
        held = held.subarray(mark.length);
        return piece(false);
      }
      if (isOver) {
        take(held.length);
        return length === 0 ? undefined : piece(true);
      }
      // The mark may have started at the end.
      take(Math.max(0, held.length - mark.length + 1));
      const chunk = await source.next();
      if (chunk.done) isOver = true;
      else held = Buffer.concat([held, chunk.value]);
    }
  };
}

export type LineCounts = { additions: number; deletions: number; total: number };

/** Added and deleted lines between each pair of trees, in order; binary files do not count. */
export async function countLines(git: GitFolder, pairs: readonly DiffEnds[]): Promise<LineCounts[]> {
  if (pairs.length === 0) return [];
  let files = 0;
  for (const { from, to } of pairs) files += await countFiles(git, to, from);
  const input = pairs.map(({ from, to }) => `${from} ${to}\n`).join('');
  const options = ['--shortstat', '--no-ext-diff', '--no-textconv'];
  const text = await withOrWithoutRenames(files, (renames) =>
    textInTime(['diff-tree', '--stdin', '-r', renames, ...options], { folder: git.folder, input }),
  );
  const counts: LineCounts[] = [];
  for (const line of text.split('\n')) {
    if (/^[0-9a-f]/.test(line)) counts.push({ additions: 0, deletions: 0, total: 0 });
    const last = counts.at(-1);
    if (!last) continue;
    last.additions += Number(/(\d+) insertion/.exec(line)?.[1] ?? 0);
    last.deletions += Number(/(\d+) deletion/.exec(line)?.[1] ?? 0);
    last.total = last.additions + last.deletions;
  }
  return counts;
}
