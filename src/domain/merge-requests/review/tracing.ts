/**
 * Where a note on one version of a merge request is in a newer one (facts-merge-requests: 7.3). A version is a diff from its base
 * to its head: here from A to B before, and from C to D now. Pure.
 */
import type { FileDiff } from '../../../platform/git/history/parse-diff.ts';
import {
  lineOf,
  numberInOther,
  type PatchLine,
  parsePatch,
} from '../../../platform/git/history/patch-lines.ts';
import type { NotePosition } from '../../conversation/index.ts';
import { atLine, type ChangedFile, type DiffLine, isInOrder, type PlacedNote } from './positions.ts';

export type DiffRefs = Pick<NotePosition, 'base_sha' | 'start_sha' | 'head_sha'>;

export type ComparedFile = ChangedFile & Pick<FileDiff, 'collapsed' | 'too_large'>;

export type Movement = {
  from: DiffRefs;
  to: DiffRefs;
  /** What changed from the old base to the new one: A to C. */
  bases: readonly ComparedFile[];
  /** What changed from the old head to the new one: B to D. */
  heads: readonly ComparedFile[];
  /** The new version: C to D. */
  diff: readonly ComparedFile[];
};

/**
 * Where the note is now; or that it is outdated, with the change that made it so, where there is one to show. An outdated note
 * stays where it was.
 */
export type Traced =
  | { isOutdated: false; placed: PlacedNote }
  | { isOutdated: true; change: PlacedNote | null };

type Version = 'old' | 'new';

/** Two trees that were compared. */
type Comparison = {
  refs: DiffRefs;
  /** The changed file that is at the path in the one tree. */
  fileAt: (version: Version, path: string) => ComparedFile | undefined;
  /** The lines of its patch; undefined where it is too long, or of bytes. */
  linesOf: (file: ComparedFile) => PatchLine[] | undefined;
};

function comparison(files: readonly ComparedFile[], refs: DiffRefs): Comparison {
  const byPath = { old: new Map<string, ComparedFile>(), new: new Map<string, ComparedFile>() };
  const patches = new Map<ComparedFile, PatchLine[] | undefined>();
  for (const file of files) {
    // A file that became a link is listed twice under one path: the old tree has the one, the new tree the other.
    if (!file.new_file || !byPath.old.has(file.old_path)) byPath.old.set(file.old_path, file);
    if (!file.deleted_file || !byPath.new.has(file.new_path)) byPath.new.set(file.new_path, file);
  }
  return {
    refs,
    fileAt: (version, path) => byPath[version].get(path),
    linesOf(file) {
      if (!patches.has(file)) {
        const isShown = !file.collapsed && !file.too_large && !file.diff.startsWith('Binary files ');
        patches.set(file, isShown ? parsePatch(file.diff) : undefined);
      }
      return patches.get(file);
    },
  };
}

/** A line of the one tree that was looked for in the other. */
type Step = {
  file: ComparedFile | undefined;
  lines: PatchLine[];
  /** The path in the other tree. */
  path: string;
  /** The number there; undefined where the other tree does not have the line. */
  number: number | undefined;
};

/** Follows a line from the version to the other one; undefined where the change of its file is not known. */
function follow(compared: Comparison, version: Version, path: string, number: number): Step | undefined {
  const file = compared.fileAt(version, path);
  if (!file) return { file, lines: [], path, number };
  const lines = compared.linesOf(file);
  if (!lines) return undefined;
  const other = version === 'old' ? file.new_path : file.old_path;
  return { file, lines, path: other, number: numberInOther(lines, version, number) };
}

type Place = { file: ComparedFile; line: DiffLine };
type TracedLine = { now?: Place; change?: { compared: Comparison; place: Place } };

/** The line of a step's patch, where it is of this kind. */
function changeAt(
  compared: Comparison,
  step: Pick<Step, 'file' | 'lines'>,
  [version, number]: [Version, number],
  kind: DiffLine['kind'],
): TracedLine {
  const line = lineOf(step.lines, version, number);
  return step.file && line?.kind === kind ? { change: { compared, place: { file: step.file, line } } } : {};
}

/** The change by which the line came into the newer tree, if it did. */
function arrival(compared: Comparison, path: string, number: number): TracedLine {
  const step = follow(compared, 'new', path, number);
  return step ? changeAt(compared, step, ['new', number], 'added') : {};
}

type Comparisons = Record<'bases' | 'heads' | 'diff', Comparison>;

/** A line that the old head has, whether it was added or unchanged there. */
function traceHead({ bases, heads, diff }: Comparisons, path: string, number: number): TracedLine {
  const head = follow(heads, 'old', path, number);
  if (!head) return {};
  if (head.number === undefined) return changeAt(heads, head, ['old', number], 'removed');
  const base = follow(diff, 'new', head.path, head.number);
  if (!base) return {};
  const { file, lines } = base;
  const shown = lineOf(lines, 'new', head.number);
  if (file && shown) return { now: { file, line: shown } };
  if (base.number === undefined) return {};
  if (file && lines.length > 0)
    return { now: { file, line: { kind: 'unchanged', old: base.number, new: head.number } } };
  return arrival(bases, base.path, base.number);
}

/** A line that the old head had removed. */
function traceRemoved({ bases, heads, diff }: Comparisons, path: string, number: number): TracedLine {
  const base = follow(bases, 'old', path, number);
  if (!base) return {};
  if (base.number === undefined) return changeAt(bases, base, ['old', number], 'removed');
  const head = follow(diff, 'old', base.path, base.number);
  if (!head) return {};
  const line = lineOf(head.lines, 'old', base.number);
  if (head.file && line?.kind === 'removed') return { now: { file: head.file, line } };
  return head.number === undefined ? {} : arrival(heads, head.path, head.number);
}

type Lines = { old_line?: number | null; new_line?: number | null };

function traceLine(compared: Comparisons, { old_path, new_path }: NotePosition, lines: Lines): TracedLine {
  const { old_line, new_line } = lines;
  if (new_line) return traceHead(compared, new_path ?? old_path ?? '', new_line);
  return old_line ? traceRemoved(compared, old_path ?? new_path ?? '', old_line) : {};
}

const outdatedBy = (position: NotePosition, { change }: TracedLine): Traced => ({
  isOutdated: true,
  change: change
    ? atLine({ ...position, ...change.compared.refs }, change.place.file, change.place.line)
    : null,
});

function traceText(compared: Comparisons, position: NotePosition): Traced {
  const last = traceLine(compared, position, position);
  if (!last.now) return outdatedBy(position, last);
  const { file, line } = last.now;
  const moved = { ...position, ...compared.diff.refs };
  if (!position.line_range) return { isOutdated: false, placed: atLine(moved, file, line) };
  // A range is where it was said to be as long as both of its ends are.
  const first = traceLine(compared, position, position.line_range.start);
  if (first.now?.file !== file || !isInOrder(first.now.line, line)) return outdatedBy(position, first);
  return { isOutdated: false, placed: atLine(moved, file, line, first.now.line) };
}

/** A note on a whole file or an image is outdated when the file changes again. */
function traceFile({ bases, heads, diff }: Comparisons, position: NotePosition): Traced {
  const newPath = position.new_path ?? position.old_path ?? '';
  const at = ({ refs }: Comparison, { old_path, new_path }: ComparedFile): PlacedNote => ({
    position: { ...position, ...refs, old_path, new_path },
    lineCode: null,
  });
  const changed = heads.fileAt('old', newPath);
  if (changed) return { isOutdated: true, change: at(heads, changed) };
  const file = diff.fileAt('new', newPath);
  if (file) return { isOutdated: false, placed: at(diff, file) };
  const below = bases.fileAt('old', position.old_path ?? newPath);
  return { isOutdated: true, change: below ? at(bases, below) : null };
}

const refsBetween = (from: string, to: string): DiffRefs => ({
  base_sha: from,
  start_sha: from,
  head_sha: to,
});

/** Traces notes of the old version, which must stand at its commits. Each patch is read once, however many notes it has. */
export function createTracer(movement: Movement): (position: NotePosition) => Traced {
  const { from, to } = movement;
  const compared: Comparisons = {
    bases: comparison(movement.bases, refsBetween(from.base_sha, to.base_sha)),
    heads: comparison(movement.heads, refsBetween(from.head_sha, to.head_sha)),
    diff: comparison(movement.diff, to),
  };
  return (position) =>
    position.position_type === 'text' ? traceText(compared, position) : traceFile(compared, position);
}
