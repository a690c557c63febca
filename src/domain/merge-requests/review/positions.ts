/** Which places of a merge request's diff may carry a note (facts-merge-requests: 7.2). Pure. */
import { badRequest, type Failure } from '../../../platform/failure.ts';
import type { FileDiff } from '../../../platform/git/history/parse-diff.ts';
import {
  lineOf,
  numberInOther,
  type PatchLine,
  parsePatch,
} from '../../../platform/git/history/patch-lines.ts';
import { sha1 } from '../../../platform/secret.ts';
import {
  isCompletePosition,
  type NotePosition,
  type PositionInput,
  storedPosition,
} from '../../conversation/index.ts';

export type ChangedFile = Pick<FileDiff, 'old_path' | 'new_path' | 'new_file' | 'deleted_file' | 'diff'>;

/** A line of a diff by the running numbers of both versions, shown or between the hunks. */
export type DiffLine = Pick<PatchLine, 'kind' | 'old' | 'new'>;

type Lines = { old_line?: number | null | undefined; new_line?: number | null | undefined };
type LineRange = NonNullable<NotePosition['line_range']>;
type SentEnd = NonNullable<PositionInput['line_range']>['start'];

/** The public API's refusals are the printed errors of a record. */
const refusal = (errors: string): Failure => badRequest(`Note {${errors}}`);
const incomplete = (): Failure => refusal(':position=>["is incomplete"]');
const notInDiff = (): Failure => refusal(`:line_code=>["can't be blank", "must be a valid line code"]`);

/** 400 unless the three commits are among those that the merge request's versions show. */
export function requireKnownCommits(position: PositionInput, known: ReadonlySet<string>): void {
  const { base_sha, start_sha, head_sha } = position;
  if (![base_sha, start_sha, head_sha].every((sha) => known.has(sha))) throw notInDiff();
}

/** The changed file that the position names by one path or both; undefined where the diff has none. */
export function fileOf<File extends ChangedFile>(
  { old_path, new_path, new_line }: Pick<PositionInput, 'old_path' | 'new_path' | 'new_line'>,
  files: readonly File[],
): File | undefined {
  const named = files.filter(
    (file) => (!old_path || file.old_path === old_path) && (!new_path || file.new_path === new_path),
  );
  // A file that became a link is listed twice under one path: as removed, and as added.
  return named.find((file) => (new_line ? !file.deleted_file : !file.new_file)) ?? named[0];
}

/** `<SHA-1 of the path>_<old>_<new>`: how the public API names a line of a diff. */
export const lineCode = (path: string, line: DiffLine): string =>
  `${sha1(path).toString('hex')}_${line.old}_${line.new}`;

const codeFormat = /^([0-9a-f]{40})_(\d{1,10})_(\d{1,10})$/;

/** The numbers under which a record shows the line. */
const numbersOf = ({
  kind,
  old,
  new: added,
}: DiffLine): { old_line: number | null; new_line: number | null } => ({
  old_line: kind === 'added' ? null : old,
  new_line: kind === 'removed' ? null : added,
});

const lineTypes = { added: 'new', removed: 'old', unchanged: null } as const;

const rangeEnd = (path: string, line: DiffLine): LineRange['start'] => ({
  line_code: lineCode(path, line),
  type: lineTypes[line.kind],
  ...numbersOf(line),
});

/** A position as its note stores it; the line's code is null where it is no text. */
export type PlacedNote = { position: NotePosition; lineCode: string | null };

type Paths = Pick<ChangedFile, 'old_path' | 'new_path'>;

/** The position at a line of the file, or at a range that ends there. */
export function atLine(
  position: NotePosition,
  { old_path, new_path }: Paths,
  line: DiffLine,
  first?: DiffLine,
): PlacedNote {
  const line_range = first ? { start: rangeEnd(new_path, first), end: rangeEnd(new_path, line) } : null;
  const placed = { ...position, old_path, new_path, ...numbersOf(line), line_range };
  return { position: placed, lineCode: lineCode(new_path, line) };
}

/** Whether a range may go from the first line to the last one. */
export const isInOrder = (first: DiffLine, last: DiffLine): boolean =>
  first.old <= last.old && first.new <= last.new;

/** How lines of one file are found. */
type Finder = {
  byNumbers: (lines: Lines) => DiffLine | undefined;
  byCode: (code: string) => DiffLine | undefined;
};

function finderOf(file: ChangedFile, newLineCount: number): Finder {
  const lines = parsePatch(file.diff);

  /** An unchanged line; between the hunks it must be known by both numbers. */
  function unchanged(old: number, added: number): DiffLine | undefined {
    const shown = lineOf(lines, 'old', old);
    if (shown) return shown.kind === 'unchanged' && shown.new === added ? shown : undefined;
    const hasOthers = lines.length > 0 && !file.new_file && !file.deleted_file;
    const isBetween = hasOthers && old > 0 && added > 0 && added <= newLineCount;
    return isBetween && numberInOther(lines, 'old', old) === added
      ? { kind: 'unchanged', old, new: added }
      : undefined;
  }

  return {
    byNumbers({ old_line, new_line }) {
      if (old_line && new_line) return unchanged(old_line, new_line);
      if (new_line) return lineOf(lines, 'new', new_line);
      return old_line ? lineOf(lines, 'old', old_line) : undefined;
    },
    byCode(code) {
      const [, path, old, added] = codeFormat.exec(code) ?? [];
      if (path !== sha1(file.new_path).toString('hex')) return undefined;
      const [oldNumber, newNumber] = [Number(old), Number(added)];
      const isNamed = (line: DiffLine | undefined) => line?.old === oldNumber && line.new === newNumber;
      const shown = [lineOf(lines, 'old', oldNumber), lineOf(lines, 'new', newNumber)].find(isNamed);
      return shown ?? unchanged(oldNumber, newNumber);
    },
  };
}

/** Numbers go before the code: clients make codes of lines, and some of them wrong ones. */
const endLine = (
  finder: Finder,
  { old_line, new_line, line_code }: NonNullable<SentEnd>,
): DiffLine | undefined =>
  old_line || new_line ? finder.byNumbers({ old_line, new_line }) : finder.byCode(line_code ?? '');

const isSame = (one: DiffLine, two: DiffLine): boolean => one.old === two.old && one.new === two.new;

/** The first line of the range; 400 where the range does not end at the line of the note. */
function startOfRange(
  finder: Finder,
  { start, end }: NonNullable<PositionInput['line_range']>,
  line: DiffLine,
): DiffLine {
  const first = start && endLine(finder, start);
  const isEndNamed = end && (end.old_line || end.new_line || end.line_code);
  const last = isEndNamed ? endLine(finder, end) : line;
  if (!first || !last || !isSame(last, line) || !isInOrder(first, last)) throw notInDiff();
  return first;
}

/**
 * Places a note on the file that fileOf() found. Text may be commented on where the diff shows it, and between the hunks where
 * both numbers are right; `newLineCount` is how many lines the new version has. The second number of a shown line, and the codes
 * of a range, are derived. 400 for an incomplete position, and for one that is not in the diff.
 */
export function placeNote(
  sent: PositionInput,
  file: ChangedFile | undefined,
  newLineCount: number,
): PlacedNote {
  if (!isCompletePosition(sent)) throw incomplete();
  if (!file) throw notInDiff();
  const { old_path, new_path } = file;
  const position = storedPosition({ ...sent, old_path, new_path });
  if (sent.position_type !== 'text') return { position, lineCode: null };
  const finder = finderOf(file, newLineCount);
  const line = finder.byNumbers(sent);
  if (!line) throw notInDiff();
  return atLine(
    position,
    file,
    line,
    sent.line_range ? startOfRange(finder, sent.line_range, line) : undefined,
  );
}
