/** The thread that computes the digests of a file behind the one that writes it. */
import { closeSync, openSync, readSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { startDigest } from '../secret.ts';
import { type FollowedFile, GIVEN_UP, progressAt, STARTED } from './digests.ts';

const PIECE_BYTES = 262_144;
/** A writer that died without a word leaves no thread behind. */
const LONGEST_WAIT_MS = 3_600_000;

/** None where the writer gave up. */
function follow({ path, algorithms, shared }: FollowedFile): Uint8Array[] {
  const progress = new BigInt64Array(shared);
  Atomics.store(progress, STARTED, 1n);
  const hashes = algorithms.map((algorithm) => startDigest(algorithm));
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  const file = openSync(path, 'r');
  try {
    for (let position = 0; ; ) {
      const value = Atomics.load(progress, 0);
      if (value === GIVEN_UP) return [];
      const { bytes, isWhole } = progressAt(value);
      if (position < bytes) {
        const read = readSync(file, piece, 0, Math.min(PIECE_BYTES, bytes - position), position);
        if (read === 0) throw new Error('a draft is shorter than what was written');
        for (const hash of hashes) hash.update(piece.subarray(0, read));
        position += read;
      } else if (isWhole) return hashes.map((hash) => hash.digest());
      else if (Atomics.wait(progress, 0, value, LONGEST_WAIT_MS) === 'timed-out') return [];
    }
  } finally {
    closeSync(file);
  }
}

parentPort?.on('message', (file: FollowedFile) => parentPort?.postMessage(follow(file)));
