/** How large a project's repository and its large files may be, and what those read whose writes are too much. Pure. */

const MEBIBYTE = 1_048_576;

/** Largest limit, in MiB: less than any limit in bytes, so that one is never taken for the other. */
export const MAX_LIMIT = 1_000_000;

/** A limit as records show it. */
export const limitInBytes = (mebibytes: number): number => mebibytes * MEBIBYTE;

/** Bytes; without a limit it is 0, and the size is not known. */
export type Usage = { limit: number; size: number };

/** Whether there is a limit, by that of the project or its groups and that of the instance, which no tier below has. */
export const isLimited = (own: number | null | undefined, ofInstance: number | undefined): boolean =>
  ofInstance !== undefined && (own ?? ofInstance) > 0;

export type Verdict = 'fits' | 'is above' | 'would exceed';

/** Whether what brings so many bytes fits. Nothing fits any more where the limit is exceeded already, and all that is left to be had fits. */
export function judge({ limit, size }: Usage, bytes: number): Verdict {
  if (limit === 0) return 'fits';
  if (size > limit) return 'is above';
  return size + bytes > limit ? 'would exceed' : 'fits';
}

const UNITS = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const DIGITS = 2;

/** As the public API writes sizes: by two digits. */
export function sizeInWords(bytes: number): string {
  if (bytes < 1_024) return bytes === 1 ? '1 Byte' : `${bytes.toLocaleString('en-US')} Bytes`;
  let value = bytes / 1_024;
  let unit = 0;
  for (; value >= 1_024 && unit < UNITS.length - 1; unit++) value /= 1_024;
  return `${Number(value.toPrecision(DIGITS)).toLocaleString('en-US')} ${UNITS[unit]}`;
}

const ASK = 'Please contact your administrator for more information.';

const because = ({ limit, size }: Usage, bytes = 0): string =>
  `because this repository has exceeded its size limit of ${sizeInWords(limit)} by ${sizeInWords(Math.max(size + bytes - limit, 0))}`;

export const pushRefusal = (usage: Usage, bytes = 0): string =>
  `Your push has been rejected, ${because(usage, bytes)}. ${ASK}`;

export const commitRefusal = (usage: Usage): string =>
  `Your changes could not be committed, ${because(usage)}`;

export const mergeRefusal = (usage: Usage): string =>
  `This merge request cannot be merged, ${because(usage)}`;

export const newChangesRefusal = ({ limit }: Usage): string =>
  `Your push to this repository would cause it to exceed the size limit of ${sizeInWords(limit)} so it has been rejected. ${ASK}`;
