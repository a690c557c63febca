/** Long answers as bytes, made and hashed piece by piece, so that others are served in between. */
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Characters, or bytes, that are encoded and hashed in one go. */
const PIECE = 524_288;

export const isLongAnswer = (body: unknown): body is string | Buffer =>
  (typeof body === 'string' || Buffer.isBuffer(body)) && body.length > PIECE;

/** The text from a place on, with no character cut in two. */
function pieceAt(text: string, at: number): string {
  const last = text.charCodeAt(at + PIECE - 1);
  const isFirstOfPair = last >= 0xd800 && last < 0xdc00;
  return text.slice(at, at + PIECE + (isFirstOfPair ? 1 : 0));
}

/** The bytes, and their SHA-1 in base64url. */
export async function encodeInTurns(body: string | Buffer): Promise<{ bytes: Buffer; sum: string }> {
  const hash = createHash('sha1');
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length; await nextTurn()) {
    const piece = typeof body === 'string' ? pieceAt(body, at) : body.subarray(at, at + PIECE);
    at += piece.length;
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    hash.update(bytes);
    if (typeof body === 'string') pieces.push(bytes);
  }
  return { bytes: typeof body === 'string' ? Buffer.concat(pieces) : body, sum: hash.digest('base64url') };
}
