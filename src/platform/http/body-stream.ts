/** Bodies as they arrive: piece by piece, and the whole of a small one. */
import type { Readable } from 'node:stream';
import { Failure } from '../failure.ts';

export const tooLargeBody = (): Failure => new Failure('payload_too_large', '413 Request Entity Too Large');
const cutOff = (): Failure => new Failure('bad_request', '400 Bad request');

/**
 * Hands each piece of the stream to `take`, and ends with the stream; rejects with what `take` throws, and with `cutOff()`
 * where the client hangs up. By its events: a stream's iterator costs more than all the rest of a small body. What is left
 * unread is the server's to discard.
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
      // It closes after that too.
      stream.off('close', cut);
      resolve();
    });
    stream.once('error', cut);
    stream.once('close', cut);
    if (stream.destroyed && !stream.readableEnded) cut();
  });
}

/** The pieces as one, without a copy where there is only one. */
export const joinPieces = (pieces: readonly Buffer[]): Buffer => {
  const [only] = pieces;
  return only && pieces.length === 1 ? only : Buffer.concat(pieces);
};
