/**
 * Room for what clients of git ask for: the refs that a push is to change, and what a fetch wants and has. It is kept until
 * git has ended. A few names always fit; long lists share what there is, and no caller has more than a part of it, so that
 * no number of requests fills the memory or keeps others out.
 */
import { Failure } from '../../platform/failure.ts';
import { currentCaller } from '../../platform/fair-share.ts';

/** Bytes that every request may have without asking: two pieces of a body. */
const FREE = 131_072;
/** Bytes beyond that of all requests together. */
const SHARED = 96 * 1_048_576;
/** Of them, those of one caller: the largest push has that many. */
const SHARED_PER_CALLER = 48 * 1_048_576;

let shared = 0;
const sharedByCaller = new Map<string | undefined, number>();

export type Room = {
  /** Some more bytes are kept; 429 when the caller has too many of them, 503 when all callers have. */
  take(bytes: number): void;
  /** They are kept no longer. */
  leave(): void;
};

const headers = { 'retry-after': '10' };

export function enterRoom(): Room {
  const caller = currentCaller();
  let taken = 0;
  const beyondFree = (bytes: number): number => Math.max(0, bytes - FREE);
  const add = (bytes: number): void => {
    shared += bytes;
    const mine = (sharedByCaller.get(caller) ?? 0) + bytes;
    if (mine > 0) sharedByCaller.set(caller, mine);
    else sharedByCaller.delete(caller);
  };
  return {
    take(bytes) {
      const more = beyondFree(taken + bytes) - beyondFree(taken);
      if (more > 0 && (sharedByCaller.get(caller) ?? 0) + more > SHARED_PER_CALLER)
        throw new Failure(
          'too_many_requests',
          'You have other requests about very many refs running. Please wait for them to end.',
          { headers },
        );
      if (more > 0 && shared + more > SHARED)
        throw new Failure(
          'unavailable',
          'The server is busy with other requests about very many refs. Please try again later.',
          { headers },
        );
      add(more);
      taken += bytes;
    },
    leave() {
      add(-beyondFree(taken));
      taken = 0;
    },
  };
}
