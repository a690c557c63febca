/**
 * Watches the free space under the data folder. A database that cannot extend its log goes down and takes the reads with
 * it, so writes are refused while there is still room for what is under way.
 */
import { statfs } from 'node:fs/promises';
import { Failure } from '../failure.ts';

export type DiskGuard = {
  /** What is wrong, or undefined: as last seen, at most a second ago. */
  problem(): string | undefined;
  /** Throws 503 when writes are refused. */
  refuseWrites(): void;
  /** The same for one that writes so many bytes: it looks anew where many were written since the last look. */
  refuseWritesOf(bytes: number): void | Promise<void>;
  stop(): void;
};

/** Four segments of PostgreSQL's write-ahead log. */
const MIN_FREE_BYTES = 64 * 1_048_576;
const CHECK_INTERVAL_MS = 1_000;
/** Well below what is kept free: a fast network brings more in a second. */
const CHECK_BYTES = 16 * 1_048_576;

/** What is free where the folder is; undefined where it cannot be asked. */
export async function freeBytes(folder: string): Promise<number | undefined> {
  const disk = await statfs(folder).catch(() => undefined);
  return disk && disk.bavail * disk.bsize;
}

export function createDiskGuard(folder: string): DiskGuard {
  let problem: string | undefined;
  let written = 0;
  const look = async (): Promise<void> => {
    written = 0;
    const full = ((await freeBytes(folder)) ?? MIN_FREE_BYTES) < MIN_FREE_BYTES;
    problem = full ? 'no space left on disk: writes are refused until there is' : undefined;
  };
  void look();
  const timer = setInterval(() => void look(), CHECK_INTERVAL_MS);
  timer.unref();
  const refuseWrites = (): void => {
    if (problem === undefined) return;
    throw new Failure('unavailable', `503 Service Unavailable: ${problem}`, {
      headers: { 'retry-after': '30' },
    });
  };
  return {
    problem: () => problem,
    refuseWrites,
    refuseWritesOf(bytes) {
      written += bytes;
      return written > CHECK_BYTES ? look().then(refuseWrites) : refuseWrites();
    },
    stop: () => clearInterval(timer),
  };
}
