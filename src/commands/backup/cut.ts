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
  containerOf,
  holdRepositories,
  holdWrites,
  keepMarks,
  letWrites,
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

export type CutConnections = {
  /** Has the snapshot afterwards. */
  snapshot: CopyConnection;
  /** In no transaction. */
  others: CopyConnection;
  /** In a transaction until the cut is taken: PostgreSQL removes no trace of locks that are younger. */
  keeper: CopyConnection;
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
/** Readings before writes are held: each has what was written since the one before. */
const EARLY_READINGS = 3;
/** For which writes wait at most, in milliseconds, and those that go on are waited for. */
const HELD_MS = 5_000;
const DRAIN_MS = 3_000;
const POLL_MS = 10;

export function folderOf({ kind, container, wiki, storage }: Stored, storages: Config['storages']): string {
  const root = storages.get(storage);
  if (root === undefined)
    throw new Error(`repositories are in the storage ${storage}, which ASHLAR_STORAGES does not name`);
  return join(root, repositoryPath({ kind, id: Number(container), wiki }));
}

/** Resolves when it is so, or the time is over: whether it is so. */
async function comesTrue(isSo: () => Promise<boolean>, milliseconds: number): Promise<boolean> {
  for (const until = monotonic() + milliseconds; ; await sleep(POLL_MS)) {
    if (await isSo()) return true;
    if (monotonic() > until) return false;
  }
}

/** Waits for the uses that are being recorded now, a statement each; false where that takes long. */
async function awaitBegun(connection: CopyConnection): Promise<boolean> {
  let begun = await selectBegun(connection);
  return comesTrue(async () => {
    const still = await selectBegun(connection);
    begun = new Set([...begun].filter((name) => still.has(name)));
    return begun.size === 0;
  }, HELD_MS);
}

/**
 * Opens the snapshot, and reads the refs of all repositories as they are at its moment. Most are read before: whoever writes to one
 * locks its container's row first, so that a row which nobody has locked or changed since, and that nobody wrote to then, says
 * that its refs are the same. For the moment of the snapshot no write begins anywhere, those that go on are waited for, and what was
 * written since the last reading is read again. A write that takes long, and a push of git, has its row in the snapshot, by
 * which a restored program settles it, as after a crash.
 */
export async function takeCut(connections: CutConnections, options: CutOptions): Promise<Cut> {
  const { keeper } = connections;
  await keepMarks(keeper);
  try {
    return await cutBetween(connections, options);
  } finally {
    await keeper.ask('commit');
  }
}

async function cutBetween({ snapshot, others }: CutConnections, options: CutOptions): Promise<Cut> {
  const { storages, processId, spool, onDamage } = options;
  const refsOf = ({ id }: Stored): string => join(spool, id);
  const damaged = new Map<string, [Stored, string]>();
  /** The mark of each container when its repositories were read; none where somebody wrote to it then. */
  const known = new Map<string, string>();
  const read = async (
    stored: readonly Stored[],
    marks: ReadonlyMap<string, string>,
    written: ReadonlySet<string>,
  ) => {
    const changed = stored.filter((each) => {
      const mark = known.get(containerOf(each));
      return mark === undefined || mark !== marks.get(containerOf(each));
    });
    await eachOf(changed, async (each) => {
      const folder = folderOf(each, storages);
      damaged.delete(each.id);
      const text = await Promise.all([headOf(folder), allRefs(folder)]).then(
        (both) => both.join(''),
        (error: unknown) => {
          damaged.set(each.id, [each, (error as Error).message]);
          return 'ref: refs/heads/main\n';
        },
      );
      await writeFile(refsOf(each), text, 'latin1');
    });
    for (const each of changed) {
      const [name, mark] = [containerOf(each), marks.get(containerOf(each))];
      if (mark === undefined || written.has(name)) known.delete(name);
      else known.set(name, mark);
    }
  };
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    for (let reading = 1; reading <= EARLY_READINGS; reading++) {
      const marks = await selectMarks(others);
      if (!(await awaitBegun(others))) continue;
      const written = await selectWritten(others, { settled: true });
      await read(await selectStored(others), marks, written);
    }
    const until = monotonic() + HELD_MS;
    await holdWrites(others, HELD_MS);
    try {
      if (!(await awaitBegun(others))) continue;
      await comesTrue(async () => (await selectWritten(others, { settled: false })).size === 0, DRAIN_MS);
      await snapshot.ask('begin isolation level repeatable read, read only');
      const stored = await selectStored(snapshot);
      await read(stored, await selectMarks(others), new Set());
      // Before anybody can move or remove them.
      await holdRepositories(others, processId);
      if (monotonic() < until) {
        for (const [each, problem] of damaged.values()) onDamage(each, problem);
        return { stored, refsOf };
      }
      await snapshot.ask('rollback');
    } finally {
      await letWrites(others);
    }
  }
  throw new Error('the repositories are written to without a pause: try again later');
}
