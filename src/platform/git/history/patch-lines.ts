/** The lines of a patch of one file, with their numbers in both versions. Pure, in time linear in the patch. */

export type PatchLine = {
  kind: 'added' | 'removed' | 'unchanged';
  /** The number in the old version; of an added line, the number that the next line has there. */
  old: number;
  /** The number in the new version; of a removed line, the number that the next line has there. */
  new: number;
  /** Without the line feed; a carriage return before it belongs to the line. */
  text: string;
  /** False for the last line of a file that ends without one. */
  hasLineFeed: boolean;
};

const kinds: Readonly<Record<string, PatchLine['kind']>> = { '+': 'added', '-': 'removed', ' ': 'unchanged' };
const hunkHeader = /^@@ -(\d{1,10})(?:,(\d{1,10}))? \+(\d{1,10})(?:,(\d{1,10}))? @@/;
/** How git marks that the line before has no line feed; the words behind it depend on the locale. */
const NO_LINE_FEED = '\\';

type Counters = { old: number; new: number; oldLeft: number; newLeft: number };

function startOfHunk(header: string): Counters | undefined {
  const [, old, oldLeft = 1, added, newLeft = 1] = hunkHeader.exec(header) ?? [];
  if (old === undefined || added === undefined) return undefined;
  return { old: Number(old), new: Number(added), oldLeft: Number(oldLeft), newLeft: Number(newLeft) };
}

function passLine(at: Counters, kind: PatchLine['kind']): void {
  if (kind !== 'added') {
    at.old += 1;
    at.oldLeft -= 1;
  }
  if (kind !== 'removed') {
    at.new += 1;
    at.newLeft -= 1;
  }
}

/**
 * The lines of all hunks of a unified diff as git writes it, with the headers of the file or without them. The sentence about
 * binary files has none.
 */
export function parsePatch(diff: string): PatchLine[] {
  const lines: PatchLine[] = [];
  let at: Counters = { old: 0, new: 0, oldLeft: 0, newLeft: 0 };
  for (let start = 0; start < diff.length; ) {
    const feed = diff.indexOf('\n', start);
    const end = feed < 0 ? diff.length : feed;
    const mark = diff.charAt(start);
    // The counts say where a hunk ends: a removed line can look like a header.
    const kind = at.oldLeft > 0 || at.newLeft > 0 ? kinds[mark] : undefined;
    if (kind) {
      lines.push({ kind, old: at.old, new: at.new, text: diff.slice(start + 1, end), hasLineFeed: true });
      passLine(at, kind);
    } else if (mark === NO_LINE_FEED) {
      const last = lines.at(-1);
      if (last) last.hasLineFeed = false;
    } else if (mark === '@') at = startOfHunk(diff.slice(start, end)) ?? at;
    start = end + 1;
  }
  return lines;
}

type Version = 'old' | 'new';
const other = { old: 'new', new: 'old' } as const;
/** The kind of lines that a version does not have. */
const absentFrom = { old: 'added', new: 'removed' } as const;

/** The last line whose number in the version is at most the given one. */
function lastUpTo(lines: readonly PatchLine[], version: Version, number: number): PatchLine | undefined {
  let from = 0;
  let behind = lines.length;
  while (from < behind) {
    const middle = (from + behind) >> 1;
    if ((lines[middle]?.[version] ?? 0) <= number) from = middle + 1;
    else behind = middle;
  }
  return lines[from - 1];
}

/** The line that the version has under this number; undefined where no hunk shows it. */
export function lineOf(lines: readonly PatchLine[], version: Version, number: number): PatchLine | undefined {
  const line = lastUpTo(lines, version, number);
  return line && line[version] === number && line.kind !== absentFrom[version] ? line : undefined;
}

/**
 * The number that a line of the one version has in the other; undefined where it was added or removed. What no hunk shows is
 * unchanged: the caller knows whether the file has so many lines.
 */
export function numberInOther(
  lines: readonly PatchLine[],
  version: Version,
  number: number,
): number | undefined {
  const last = lastUpTo(lines, version, number);
  if (!last) return number;
  const step = (of: Version): number => (last.kind === absentFrom[of] ? 0 : 1);
  if (last[version] === number && step(version) === 1)
    return step(other[version]) === 1 ? last[other[version]] : undefined;
  const next = (of: Version): number => last[of] + step(of);
  return number - next(version) + next(other[version]);
}
