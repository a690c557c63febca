/**
 * Room for what clients of git ask for: the refs that a push is to change, and what a fetch wants and has. It is kept until
 * git has ended. A few names always fit; long lists share what there is, so that no number of requests fills the memory.
 */
import { Failure } from '../../platform/failure.ts';

/** Bytes that every request may have without asking: two pieces of a body. */
const FREE = 131_072;
/** Bytes beyond that of all requests together. */
const SHARED = 48 * 1_048_576;

let shared = 0;

export type Room = {
  /** Some more bytes are kept; 503 when there is no room for them. */
  take(bytes: number): void;
  /** They are kept no longer. */
  leave(): void;
};

export function enterRoom(): Room {
  let taken = 0;
  const sharedBy = (bytes: number): number => Math.max(0, bytes - FREE);
  return {
    take(bytes) {
      const more = sharedBy(taken + bytes) - sharedBy(taken);
      if (more > 0 && shared + more > SHARED)
        throw new Failure(
          'unavailable',
          'The server is busy with other requests about very many refs. Please try again later.',
          { headers: { 'retry-after': '10' } },
        );
      shared += more;
      taken += bytes;
    },
    leave() {
      shared -= sharedBy(taken);
      taken = 0;
    },
  };
}
