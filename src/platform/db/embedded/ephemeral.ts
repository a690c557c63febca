/** Where a database lives that nobody needs tomorrow, and what it then need not do: for the tests, and for the lab. */
import { chmodSync, existsSync, mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Durability is tested on its own; here it would only cost time. */
export const ephemeralSettings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  // With a database for each file or instance, it would start a process several times a second.
  autovacuum: 'off',
};

/** Bytes. */
const ROOM = 4 * 1_073_741_824;

export const MEMORY = '/dev/shm';

/** In memory, where the system has room for it there: git waits for the disk at each write, and each database is 1,000 files. */
export function makeEphemeralFolder(prefix: string): string {
  const { bavail, bsize } = existsSync(MEMORY) ? statfsSync(MEMORY) : { bavail: 0, bsize: 0 };
  const folder = mkdtempSync(join(bavail * bsize > ROOM ? MEMORY : tmpdir(), prefix));
  // As the folder for temporary files, others may pass through it.
  chmodSync(folder, 0o711);
  return folder;
}
