/** Work that is done by turns, so that one caller's long page or text holds up nobody else. */
import type { Hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { monotonic } from './clock.ts';

/** Milliseconds after which others are served before the next item. */
const MAX_TURN_MS = 10;

/** To be awaited between steps of long work: others are served there when the time of a turn is over. */
export function takeTurns(): () => Promise<void> {
  let end = monotonic() + MAX_TURN_MS;
  return async () => {
    if (monotonic() < end) return;
    await nextTurn();
    end = monotonic() + MAX_TURN_MS;
  };
}

/** As `items.map(map)`; how long an item takes is not known before: its texts may be as long as they like. */
export async function mapInTurns<T, U>(items: readonly T[], map: (item: T) => U): Promise<U[]> {
  const mapped: U[] = [];
  let end = monotonic() + MAX_TURN_MS;
  for (const item of items) {
    mapped.push(map(item));
    if (monotonic() < end) continue;
    await nextTurn();
    end = monotonic() + MAX_TURN_MS;
  }
  return mapped;
}

/** Characters, or bytes, that are encoded and hashed in one go. */
export const PIECE_LENGTH = 524_288;

/** The text from a place on, with no character cut in two. */
function pieceAt(text: string, at: number): string {
  const last = text.charCodeAt(at + PIECE_LENGTH - 1);
  const isFirstOfPair = last >= 0xd800 && last < 0xdc00;
  return text.slice(at, at + PIECE_LENGTH + (isFirstOfPair ? 1 : 0));
}

/** The bytes of a text, or bytes as they are; the hash is updated with them. */
export async function encodeInTurns(body: string | Buffer, hash: Hash): Promise<Buffer> {
  if (typeof body === 'string' && body.length <= PIECE_LENGTH) return encodeInTurns(Buffer.from(body), hash);
  // Made at once: pieces that are joined at the end would take the memory twice.
  const bytes = typeof body === 'string' ? Buffer.allocUnsafeSlow(Buffer.byteLength(body)) : body;
  let filled = 0;
  for (let at = 0; at < body.length; ) {
    if (at > 0) await nextTurn();
    const begin = filled;
    if (typeof body === 'string') {
      const piece = pieceAt(body, at);
      at += piece.length;
      filled += bytes.write(piece, begin);
    } else {
      at = Math.min(body.length, at + PIECE_LENGTH);
      filled = at;
    }
    hash.update(bytes.subarray(begin, filled));
  }
  return bytes;
}
