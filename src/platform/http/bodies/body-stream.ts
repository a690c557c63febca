/** Reads bodies as they arrive: piece by piece, or a small one as a whole. */
import type { Readable } from 'node:stream';
import { Failure } from '../../failure.ts';

export const tooLargeBody = (): Failure => new Failure('payload_too_large', '413 Request Entity Too Large');
const cutOff = (): Failure => new Failure('bad_request', '400 Bad request');

/**
 * Passes each piece of the stream to `take`, and ends with the stream; rejects with what `take` throws, and
 * with `cutOff()` where the client disconnects. Uses the stream's events: its iterator costs more than all
 * the rest of a small body. The server discards unread bytes.
 */
export function eachPiece(
  stream: Readable,
  take: (piece: Buffer) => void,
  whenCutOff: () => Failure = cutOff,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const push = (piece: Buffer): void => {
      try {
        take(piece);
      } catch (error) {
        stream.off('data', push);
        reject(error);
      }
    };
    const cut = (): void => reject(whenCutOff());
    stream.on('data', push);
    stream.once('end', () => {
      // `close` also follows `end`.
      stream.off('close', cut);
      resolve();
    });
    stream.once('error', cut);
    stream.once('close', cut);
    if (stream.destroyed && !stream.readableEnded) cut();
  });
}

/** The pieces as one buffer, without a copy where there is one piece. */
export const joinPieces = (pieces: readonly Buffer[]): Buffer => {
  const [only] = pieces;
  return only && pieces.length === 1 ? only : Buffer.concat(pieces);
};

/** A body of at most so many bytes; 413 for a longer one. */
export async function wholeBody(stream: Readable, maximum: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  await eachPiece(stream, (piece) => {
    size += piece.length;
    if (size > maximum) throw tooLargeBody();
    pieces.push(piece);
  });
  return joinPieces(pieces);
}
