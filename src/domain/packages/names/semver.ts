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

/** Below zero where `one` is older; versions that differ in their build alone are the same. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [one, other].map((text) => VERSION.exec(text)?.slice(1) ?? []);
  for (const at of [0, 1, 2]) {
    const order = compareParts(a?.[at] ?? '', b?.[at] ?? '');
    if (order !== 0) return order;
  }
  return comparePrereleases(a?.[3], b?.[3]);
}

/** The same of what stands behind the hyphen; none is newer than any. */
export function comparePrereleases(one: string | undefined, other: string | undefined): number {
  const [mine, theirs] = [one?.split('.'), other?.split('.')];
  if (!mine || !theirs) return Number(!mine) - Number(!theirs);
  for (let at = 0; at < Math.min(mine.length, theirs.length); at++) {
    const order = compareParts(mine[at] ?? '', theirs[at] ?? '');
    if (order !== 0) return order;
  }
  return mine.length - theirs.length;
}
