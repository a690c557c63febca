/** `Range` of requests for files (RFC 9110, section 14). Pure. */

/** Bytes from `start` to `end`, both included. */
export type ByteRange = { start: number; end: number };

/**
 * The one range of a file of `size` bytes that the header asks for. Undefined for all of it: without a header, for one of another
 * unit or of several ranges; `unsatisfiable` for one behind the end.
 */
export function byteRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return undefined;
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}
