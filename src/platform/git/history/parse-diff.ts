/** Parses what git writes of a difference: the list of its files, and their patches in the same order. */
import { decode } from '../parse.ts';
import type { Window } from './history.ts';

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

export type DiffOptions = {
  /** The lines `---` and `+++` before the hunks. */
  unidiff?: boolean | undefined;
  /** The range of files; all by default. */
  window?: Window;
  /** Gets each file as soon as nothing that git still does can change it. */
  give?: ((file: FileDiff) => void) | undefined;
  /** Ends git. */
  signal?: AbortSignal | undefined;
};

const MAX_FILES = 3_000;
const MAX_PATCH_BYTES = 200 * 1_024;
const MAX_WHOLE_BYTES = 5 * 1_048_576;
/** For headers beside the hunks: two long names, four times each. */
const MAX_HEADER_BYTES = 65_536;

/** A file of a difference, without what changed in it. */
export type FileEntry = Omit<FileDiff, 'diff' | 'collapsed' | 'too_large'>;

export type FileList = {
  entries: FileEntry[];
  /** Whether there are more files than are listed. */
  more: boolean;
  /** Whether every path is text as git has it, by which it can be asked for. */
  isText: boolean;
};

const NUL = Buffer.of(0);
// No line of a hunk begins so, and names in headers have line breaks quoted.
const NEXT_PATCH = Buffer.from('\ndiff --git ');

/**
 * Parses `diff-tree -z --raw -p`: the list of files, an empty field, and a patch for each in the same order.
 * `atEnd` is whether all input was read: then only the exit code says whether it was complete. The first `certain` files
 * are, whatever that is.
 */
export async function parseDiff(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  { unidiff = false, window = { offset: 0, limit: MAX_FILES }, give }: DiffOptions = {},
): Promise<Diff & { atEnd: boolean; certain: number }> {
  const next = pieces(chunks);
  const { entries, more } = await readEntries(next);
  if (more) await skipList(next);
  const wanted = entries.slice(window.offset, window.offset + window.limit);
  for (let skipped = 0; skipped < window.offset && wanted.length > 0; skipped++) await next(NEXT_PATCH, 0);
  const files: FileDiff[] = [];
  let length = 0;
  let certain = 0;
  let atEnd = entries.length === 0;
  for (const entry of wanted) {
    const patch = await next(NEXT_PATCH, MAX_PATCH_BYTES + MAX_HEADER_BYTES);
    atEnd = !patch || patch.isLast;
    if (!patch) break;
    const hunks = patch.length > patch.bytes.length ? undefined : hunksOf(patch.bytes, unidiff);
    const isTooLarge = hunks === undefined || hunks.length > MAX_PATCH_BYTES;
    length += isTooLarge ? 0 : hunks.length;
    if (length > MAX_WHOLE_BYTES) break;
    const file = { diff: isTooLarge ? '' : decode(hunks), collapsed: false, too_large: isTooLarge, ...entry };
    files.push(file);
    if (patch.isLast) continue;
    certain = files.length;
    give?.(file);
  }
  const left = wanted.slice(files.length);
  files.push(...left.map((entry) => ({ diff: '', collapsed: true, too_large: false, ...entry })));
  return { files, total: entries.length, overflow: more || left.length > 0, atEnd, certain };
}

const rawLine = /^:(\d{6}) (\d{6}) [0-9a-f]+ [0-9a-f]+ ([A-Z])/;
const ABSENT = '0';
const MAX_PATH_BYTES = 65_536;

/** Parses `diff-tree -z --raw`. `atEnd` is whether all input was read. */
export async function parseFileList(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
): Promise<FileList & { atEnd: boolean }> {
  const list = await readEntries(pieces(chunks));
  return { ...list, atEnd: !list.more };
}

async function readEntries(next: NextPiece): Promise<FileList> {
  const entries: FileEntry[] = [];
  let isText = true;
  const readPath = async (): Promise<string> => {
    const bytes = (await next(NUL, MAX_PATH_BYTES))?.bytes ?? Buffer.alloc(0);
    const path = decode(bytes);
    isText &&= Buffer.byteLength(path) === bytes.length;
    return path;
  };
  for (;;) {
    const line = await next(NUL, 512);
    const [, before, after, status] = rawLine.exec(line?.bytes.toString('latin1') ?? '') ?? [];
    if (before === undefined || after === undefined) return { entries, more: false, isText };
    const old_path = await readPath();
    const new_path = status === 'R' ? await readPath() : old_path;
    // A file that became a link or a submodule has two patches: a deletion and an addition.
    const changes =
      status === 'T'
        ? [
            [before, ABSENT],
            [ABSENT, after],
          ]
        : [[status === 'A' ? ABSENT : before, status === 'D' ? ABSENT : after]];
    for (const [a_mode = ABSENT, b_mode = ABSENT] of changes) {
      if (entries.length === MAX_FILES) return { entries, more: true, isText };
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
