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
  stop(): void;
};

/** Four segments of PostgreSQL's write-ahead log. */
const MIN_FREE_BYTES = 64 * 1_048_576;
const CHECK_INTERVAL_MS = 1_000;

export function createDiskGuard(folder: string): DiskGuard {
  let problem: string | undefined;
  const look = async (): Promise<void> => {
    const disk = await statfs(folder).catch(() => undefined);
    const full = disk !== undefined && disk.bavail * disk.bsize < MIN_FREE_BYTES;
    problem = full ? 'no space left on disk: writes are refused until there is' : undefined;
  };
  void look();
  const timer = setInterval(() => void look(), CHECK_INTERVAL_MS);
  timer.unref();
  return {
    problem: () => problem,
    refuseWrites() {
      if (problem === undefined) return;
      throw new Failure('unavailable', `503 Service Unavailable: ${problem}`, {
        headers: { 'retry-after': '30' },
      });
    },
    stop: () => clearInterval(timer),
  };
}
