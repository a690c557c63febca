/** Versions by SemVer 2.0, and their order. Pure. */

const NUMBER = '(?:0|[1-9]\\d*)';
const IDENTIFIER = `(?:${NUMBER}|\\d*[A-Za-z-][0-9A-Za-z-]*)`;
const VERSION = new RegExp(
  `^(${NUMBER})\\.(${NUMBER})\\.(${NUMBER})(?:-(${IDENTIFIER}(?:\\.${IDENTIFIER})*))?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`,
);

export const isVersion = (text: string): boolean => text.length <= 255 && VERSION.test(text);

const DIGITS = /^\d+$/;

/** Numbers have no zeros before them, and may be longer than ours. */
function compareParts(one: string, other: string): number {
  if (one === other) return 0;
  const areNumbers = [DIGITS.test(one), DIGITS.test(other)];
  if (areNumbers[0] !== areNumbers[1]) return areNumbers[0] ? -1 : 1;
  if (areNumbers[0] && one.length !== other.length) return one.length - other.length;
  return one < other ? -1 : Number(one > other);
}

type Parts = { numbers: readonly string[]; before: readonly string[] | undefined };

function partsOf(version: string): Parts {
  const [, major = '', minor = '', patch = '', before] = VERSION.exec(version) ?? [];
  return { numbers: [major, minor, patch], before: before?.split('.') };
}

function compareAll(mine: readonly string[], theirs: readonly string[]): number {
  for (let at = 0; at < Math.min(mine.length, theirs.length); at++) {
    const order = compareParts(mine[at] ?? '', theirs[at] ?? '');
    if (order !== 0) return order;
  }
  return mine.length - theirs.length;
}

const compareBefore = (mine: Parts['before'], theirs: Parts['before']): number =>
  mine && theirs ? compareAll(mine, theirs) : Number(!mine) - Number(!theirs);

const comparePartsOf = (one: Parts, other: Parts): number =>
  compareAll(one.numbers, other.numbers) || compareBefore(one.before, other.before);

/** Below zero where `one` is older; versions that differ in their build alone are the same. */
export const compareVersions = (one: string, other: string): number =>
  comparePartsOf(partsOf(one), partsOf(other));

/** The same of what stands behind the hyphen; none is newer than any. */
export const comparePrereleases = (one: string | undefined, other: string | undefined): number =>
  compareBefore(one?.split('.'), other?.split('.'));

/** The oldest first; many are sorted in the time of few, since each is taken apart once. */
export const sortedVersions = (versions: readonly string[]): string[] =>
  versions
    .map((version) => ({ version, parts: partsOf(version) }))
    .sort((one, other) => comparePartsOf(one.parts, other.parts))
    .map(({ version }) => version);
