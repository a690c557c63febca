/**
 * Digests of what is written to a file. Those of a large one are a thread's work, which reads behind the writer; without a free
 * thread they are computed piece by piece here, as those of all others.
 */
import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { type DigestAlgorithm, startDigest } from '../secret.ts';
import { createThreads } from '../threads.ts';

export type FollowedFile = {
  path: string;
  algorithms: readonly DigestAlgorithm[];
  /** Two numbers of 64 bits: how far the file is written, and whether a thread follows it. */
  shared: SharedArrayBuffer;
};

/** The second number: 1 when a thread follows. */
export const STARTED = 1;
/** The first number, where nobody waits for the digests. */
export const GIVEN_UP = -(2n ** 63n);

/** The first number: the bytes that are written, and below zero when there will be no more. */
export const progressOf = (bytes: number, isWhole: boolean): bigint =>
  isWhole ? -BigInt(bytes) - 1n : BigInt(bytes);

export const progressAt = (value: bigint): { bytes: number; isWhole: boolean } =>
  value < 0n ? { bytes: Number(-value - 1n), isWhole: true } : { bytes: Number(value), isWhole: false };

/** Bytes of a file before a thread is asked: a smaller one is done before a thread has started. */
const LARGE = 16 * 1_048_576;
const LONGEST_MS = 86_400_000;

const THREADS = availableParallelism();
const threads = createThreads<FollowedFile, readonly Uint8Array[]>({
  file: new URL(`./digest-thread${extname(import.meta.url)}`, import.meta.url),
  // Nobody waits: who finds no place goes on alone. Slow clients may hold all of them, which costs others nothing else.
  share: {
    of: 'digests of large files',
    places: THREADS,
    perCaller: Math.max(1, THREADS / 2),
    waitingPerCaller: 0,
    waiting: 0,
    timeoutMs: 1,
  },
  memoryMb: 32,
});

export type Digests = {
  /** While the piece is written. */
  add(piece: Buffer): void;
  /** When so many bytes are in the file. */
  written(bytes: number): void;
  finish(): Promise<ReadonlyMap<DigestAlgorithm, Buffer>>;
  /** Of a file whose digests nobody needs; after finish() it changes nothing. */
  giveUp(): void;
};

export function startDigests(path: string, algorithms: readonly DigestAlgorithm[]): Digests {
  const hashes = algorithms.map((algorithm) => startDigest(algorithm));
  let size = 0;
  let following: { progress: BigInt64Array; answer: Promise<readonly Uint8Array[] | undefined> } | undefined;
  let isFollowed = false;

  const named = (digests: readonly Uint8Array[]): ReadonlyMap<DigestAlgorithm, Buffer> =>
    new Map(
      digests.flatMap((each, index) => {
        const algorithm = algorithms[index];
        return algorithm === undefined ? [] : [[algorithm, Buffer.from(each)]];
      }),
    );

  function ask(): void {
    const shared = new SharedArrayBuffer(16);
    const answer = threads.ask({ path, algorithms, shared }, LONGEST_MS);
    // It goes on here then.
    answer.catch(() => undefined);
    following = { progress: new BigInt64Array(shared), answer };
  }

  function tell(value: bigint): void {
    if (!following) return;
    Atomics.store(following.progress, 0, value);
    Atomics.notify(following.progress, 0);
  }

  return {
    add(piece) {
      isFollowed ||= following !== undefined && Atomics.load(following.progress, STARTED) === 1n;
      if (!isFollowed) for (const hash of hashes) hash.update(piece);
    },
    written(bytes) {
      size = bytes;
      if (size >= LARGE && !following) ask();
      tell(progressOf(size, false));
    },
    async finish() {
      if (!isFollowed) {
        tell(GIVEN_UP);
        return named(hashes.map((hash) => hash.digest()));
      }
      tell(progressOf(size, true));
      const found = await following?.answer;
      following = undefined;
      if (found?.length !== algorithms.length) throw new Error('the digests of a file were not computed');
      return named(found);
    },
    giveUp: () => tell(GIVEN_UP),
  };
}
