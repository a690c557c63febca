/** The message that gives a statement its values. Large bytes are written where they lie, and never copied. */
import { isBytes, isParts, writeText } from './values.ts';

/** Bytes; to copy fewer costs less than to write them by themselves. */
const LARGE_BYTES = 4_096;
/** What is written here is copied once it is whole; it grows with the largest text, and shrinks again. */
const SCRATCH_BYTES = 65_536;
let scratch = Buffer.allocUnsafe(SCRATCH_BYTES);
let at = 0;

function reserve(size: number): void {
  if (scratch.length - at >= size) return;
  const larger = Buffer.allocUnsafe(2 * scratch.length + size);
  scratch.copy(larger, 0, 0, at);
  scratch = larger;
}

function writeInt16(value: number): void {
  reserve(2);
  at = scratch.writeUInt16BE(value, at);
}

function writeInt32(value: number): void {
  reserve(4);
  at = scratch.writeInt32BE(value, at);
}

function writeString(text: string): void {
  // A unit of the text has three bytes at most.
  reserve(4 + (text.length < SCRATCH_BYTES ? 3 * text.length : Buffer.byteLength(text)));
  const length = scratch.write(text, at + 4);
  at = scratch.writeInt32BE(length, at) + length;
}

const execute = Buffer.from([0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0]);
const sync = Buffer.from([0x53, 0, 0, 0, 4]);
const describe = Buffer.from([0x44, 0, 0, 0, 6, 0x50, 0]);
const run = Buffer.concat([execute, sync]);
const runDescribed = Buffer.concat([describe, execute, sync]);

/**
 * Binds the values, of these types, to the statement of the name and runs it, in pieces that are to be written in this
 * order. `formats` are those of the columns; with `described`, the server describes the columns.
 */
export function bind(
  name: string,
  values: readonly unknown[],
  types: readonly number[],
  { formats, described }: { formats: readonly number[]; described: boolean },
): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let cut = 0;
  const isRaw = values.map(
    (value, place) => isBytes(types[place]) && (value instanceof Uint8Array || isParts(value)),
  );
  reserve(name.length + 16);
  // Its length is known at the end; then follows the portal, which has no name.
  scratch[0] = 0x42;
  scratch[5] = 0;
  at = 6 + scratch.write(name, 6, 'latin1');
  scratch[at++] = 0;
  if (isRaw.includes(true)) {
    writeInt16(values.length);
    for (const raw of isRaw) writeInt16(raw ? 1 : 0);
  } else writeInt16(0);
  writeInt16(values.length);
  values.forEach((value, place) => {
    if (value === null) writeInt32(-1);
    else if (isRaw[place]) {
      const parts = value instanceof Uint8Array ? [value] : (value as readonly Uint8Array[]);
      const length = parts.reduce((sum, part) => sum + part.length, 0);
      writeInt32(length);
      if (length < LARGE_BYTES) {
        reserve(length);
        for (const part of parts) {
          scratch.set(part, at);
          at += part.length;
        }
      } else {
        pieces.push(Buffer.from(scratch.subarray(cut, at)), ...parts);
        cut = at;
      }
    } else writeString(writeText(value, types[place] ?? 0));
  });
  writeInt16(formats.length);
  for (const format of formats) writeInt16(format);
  const end = at;
  const last = described ? runDescribed : run;
  reserve(last.length);
  scratch.set(last, at);
  pieces.push(Buffer.from(scratch.subarray(cut, at + last.length)));
  if (scratch.length > 16 * SCRATCH_BYTES) scratch = Buffer.allocUnsafe(SCRATCH_BYTES);
  const [first] = pieces;
  const beside = pieces.reduce((sum, piece) => sum + piece.length, 0) - (end + last.length);
  (first as Buffer).writeInt32BE(end - 1 + beside, 1);
  return pieces;
}
