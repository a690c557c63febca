/** One moment of database and repositories, while both are written to. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { repositoryPath } from '../../domain/repositories/index.ts';
import type { Config } from '../../kernel/config.ts';
import { monotonic } from '../../platform/clock.ts';
import type { CopyConnection } from '../../platform/db/driver/copy.ts';
import { allRefs, eachOf, headOf } from '../../platform/git/copies/copy.ts';
import {
  beginLocking,
  containerOf,
  holdRepositories,
  lockContainer,
  lockIfQuiet,
  type Stored,
  selectBegun,
  selectMarks,
  selectStored,
  selectWritten,
} from './cut-queries.ts';

export type Cut = {
  stored: Stored[];
  /** Bytes of HEAD, and then all refs. */
  refsOf(each: Stored): string;
};

export type CutOptions = {
  storages: Config['storages'];
  /** Under which the repositories are held, so that their folders stay. */
  processId: string;
  /** A folder for the refs. */
  spool: string;
  /** Hears of a repository that cannot be read. */
  onDamage(each: Stored, problem: string): void;
};

const MAX_ROUNDS = 10;
/** PostgreSQL's code for a lock that was waited for too long. */
const LOCK_NOT_AVAILABLE = '55P03';

export function folderOf({ kind, container, wiki, storage }: Stored, storages: Config['storages']): string {
  const root = storages.get(storage);
  if (root === undefined)
    throw new Error(`repositories are in the storage ${storage}, which ASHLAR_STORAGES does not name`);
  return join(root, repositoryPath({ kind, id: Number(container), wiki }));
}

const BEGUN_POLLS = 500;
const BEGUN_POLL_MS = 10;

/** Whether the uses that are being recorded now, a statement each, are recorded soon. */
async function awaitBegun(connection: CopyConnection): Promise<boolean> {
  let begun = await selectBegun(connection);
  for (let poll = 0; begun.size > 0 && poll < BEGUN_POLLS; poll++) {
    await sleep(BEGUN_POLL_MS);
    const still = await selectBegun(connection);
    begun = new Set([...begun].filter((name) => still.has(name)));
  }
  return begun.size === 0;
}

const QUIET_MS = 2_000;
const QUIET_POLL_MS = 10;

/**
 * Locks containers until the transaction ends, each when nobody writes to it. What has no pause is locked in the end while it is
 * written to.
 */
async function lockContainers(
  connection: CopyConnection,
  containers: readonly Pick<Stored, 'kind' | 'container'>[],
): Promise<void> {
  await beginLocking(connection);
  const until = monotonic() + QUIET_MS;
  let rest = [...containers];
  while (rest.length > 0 && monotonic() < until) {
    const written: typeof rest = [];
    for (const each of rest) if (!(await lockIfQuiet(connection, each))) written.push(each);
    rest = written;
    if (rest.length > 0) await sleep(QUIET_POLL_MS);
  }
  for (const each of rest) await lockContainer(connection, each);
}

/**
 * Opens the snapshot, and reads behind it the refs of all repositories. Whoever writes to one locks its container's row first, so
 * that a row which nobody has locked or changed from before the snapshot until its refs are read, and of which the snapshot knows no
 * write, says that they are those of the snapshot. Containers of which that is not so are locked here, each when nobody writes to
 * it, for the moment of the next snapshot. A write without a pause has its row in the snapshot, by which a restored program
 * settles it, as after a crash.
 */
export async function takeCut(
  snapshot: CopyConnection,
  others: CopyConnection,
  options: CutOptions,
): Promise<Cut> {
  const { storages, processId, spool, onDamage } = options;
  const refsOf = ({ id }: Stored): string => join(spool, id);
  const busy = new Map<string, Pick<Stored, 'kind' | 'container'>>();
  const isBusy = (each: Stored): boolean => busy.has(containerOf(each));
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    const damaged: [Stored, string][] = [];
    const read = async (some: readonly Stored[]): Promise<void> =>
      eachOf(some, async (each) => {
        const folder = folderOf(each, storages);
        const text = await Promise.all([headOf(folder), allRefs(folder)]).then(
          (both) => both.join(''),
          (error: unknown) => {
            damaged.push([each, (error as Error).message]);
            return 'ref: refs/heads/main\n';
          },
        );
        await writeFile(refsOf(each), text, 'latin1');
      });
    const before = await selectMarks(others);
    if (!(await awaitBegun(others))) continue;
    let stored: Stored[];
    try {
      await lockContainers(others, [...busy.values()]);
      await snapshot.ask('begin isolation level repeatable read, read only');
      stored = await selectStored(snapshot);
      await read(stored.filter(isBusy));
      // Before anybody can move or remove them.
      await holdRepositories(others, processId);
      await others.ask('commit');
    } catch (error) {
      if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE || round === MAX_ROUNDS) throw error;
      await others.ask('rollback');
      await snapshot.ask('rollback');
      continue;
    }
    const quiet = stored.filter((each) => !isBusy(each));
    const written = await selectWritten(snapshot);
    await read(quiet);
    const after = await selectMarks(others);
    const changed = quiet.filter((each) => {
      const mark = before.get(containerOf(each));
      return mark === undefined || mark !== after.get(containerOf(each)) || written.has(containerOf(each));
    });
    if (changed.length === 0) {
      for (const [each, problem] of damaged) onDamage(each, problem);
      return { stored, refsOf };
    }
    for (const each of changed) busy.set(containerOf(each), each);
    await snapshot.ask('rollback');
  }
  throw new Error('the repositories are written to without a pause: try again later');
}
