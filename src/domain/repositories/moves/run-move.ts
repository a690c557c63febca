/**
 * One move from its lease to its end. If it ends before the switch, the source is as it was and writable
 * again; after the switch only the old copy is left to be removed. The process may die after each step, and
 * the next one begins with the first step that is not certain.
 */

import { rm, statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Purpose, RepositoryKey } from '../../../kernel/repository-store.ts';
import type { Needs } from '../../../kernel/services.ts';
import { monotonic } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { verifyCopy } from '../../../platform/git/copies/check.ts';
import {
  allRefs,
  copyRepository,
  headOf,
  sizeOf,
  syncRepository,
} from '../../../platform/git/copies/copy.ts';
import {
  besideOf,
  isFolder,
  isSameFolder,
  makeParents,
  moveIntoPlace,
  removeLeftovers,
  repositoriesOf,
  setAside,
} from './folders.ts';
import {
  changeContainer,
  changeState,
  hasOtherMove,
  LeaseLost,
  lockLease,
  markFailed,
  markTidy,
} from './lease-actions.ts';
import { selectRecorded } from './queries.ts';
import { MoveProblem, reasonOf } from './reasons.ts';
import type { MoveRow, MoveState } from './schedule-actions.ts';

/** The steps of a move, in their order; those from `copied` to `verified` once for each repository. */
export const steps = [
  'claimed',
  'started',
  'unwritten',
  'copied',
  'verified',
  'placed',
  'switched',
  'unread',
  'set aside',
  'removed',
  'finished',
] as const;
export type Step = (typeof steps)[number];

/** Milliseconds. */
export type Pace = {
  /** How long the move waits for writers before the copy (facts: 3 times 10 seconds). */
  writers: number;
  /** How long readers without a lease are given to end after the switch. */
  settling: number;
  /** How long the move waits for clones of the old copy. */
  readers: number;
};
export const usualPace: Pace = { writers: 30_000, settling: 2_000, readers: 600_000 };

export type Run = {
  services: Needs<'database' | 'presence' | 'repositories' | 'log'>;
  move: MoveRow;
  pace: Pace;
  signal: AbortSignal;
  /** Called after each step. */
  onStep(step: Step): void;
  onProgress(bytes: number): void;
};

const POLL_INTERVAL_MS = 200;

/** Whether no process leases the container for the purposes within the time. */
async function waitUntilFree(
  { services, move, signal }: Run,
  purposes: readonly Purpose[],
  milliseconds: number,
): Promise<boolean> {
  const end = monotonic() + milliseconds;
  const { container, container_id, source_storage_name } = move;
  for (;;) {
    signal.throwIfAborted();
    const held = await services.repositories.uses(container, container_id, purposes, source_storage_name);
    if (held === 0) return true;
    if (monotonic() >= end) return false;
    await sleep(POLL_INTERVAL_MS, undefined, { signal });
  }
}

/** A transaction outside the requests' pool, tried once: its changes to folders must not be repeated. */
const transact = <T>({ services }: Run, work: (tx: Db) => Promise<T>): Promise<T> =>
  services.database.background.transaction().execute(work);

/** Runs the move; resolves when it is over, has failed, or is another process's. */
export async function runMove(run: Run): Promise<void> {
  const { signal } = run;
  try {
    if (run.move.state !== 'replicated') await replicate(run);
  } catch (error) {
    if (signal.aborted || error instanceof LeaseLost) return;
    return fail(run, error);
  }
  try {
    await cleanUp(run);
  } catch (error) {
    if (signal.aborted || error instanceof LeaseLost) return;
    const { services, move } = run;
    services.log.error('storage move: the old copy stays', error, { move: move.id });
    const to = { state: 'cleanup failed', error_message: reasonOf(error) } as const;
    await changeState(services.database.background, services.presence.id, move, 'replicated', to);
  }
}

async function replicate(run: Run): Promise<void> {
  const { services, move, pace, signal, onStep, onProgress } = run;
  const { repositories, presence } = services;
  const { source_storage_name: from, destination_storage_name: to } = move;
  if (move.state === 'scheduled')
    await changeState(services.database.background, presence.id, move, 'scheduled', { state: 'started' });
  onStep('started');
  const root = repositories.storages.get(to);
  if (root === undefined || !(await isFolder(root)))
    throw new MoveProblem(`The folder of the storage ${to} is not there.`);
  await removeLeftovers(repositories, to, move);
  if (!(await waitUntilFree(run, ['write', 'tend'], pace.writers)))
    throw new MoveProblem('Writes to the repository did not end in time.');
  onStep('unwritten');

  const copies = await placesOf(run, root);
  await transact(run, async (tx) => {
    const { storage } = await lockLease(tx, presence.id, move, ['started']);
    if (storage !== from) throw new MoveProblem('What was to be moved is gone.');
    // The folders of an earlier run that died between its renames and its commit.
    for (const { folder } of copies) await setAside(folder, move);
  });
  try {
    for (const { source, copy } of copies) {
      await refuseFull(root, to, source);
      await copyRepository(source, copy, { onProgress, signal });
      onStep('copied');
      // The disk writes while the copy is read again.
      await Promise.all([syncRepository(copy), verifyCopy(source, copy, signal)]);
      onStep('verified');
    }
    await transact(run, async (tx) => {
      const { storage } = await lockLease(tx, presence.id, move, ['started']);
      if (storage !== from) throw new MoveProblem('What was to be moved is gone.');
      // A process that was taken for dead may have written after all; from here on, writers wait for this
      // transaction.
      if ((await repositories.uses(move.container, move.container_id, ['write', 'tend'])) > 0)
        throw new MoveProblem('Somebody wrote to the repository meanwhile.');
      for (const { source, copy } of copies)
        if (
          (await allRefs(source)) !== (await allRefs(copy)) ||
          (await headOf(source)) !== (await headOf(copy))
        )
          throw new MoveProblem('The repository was written to meanwhile.');
      for (const { copy, folder } of copies) await moveIntoPlace(copy, folder);
      onStep('placed');
      await changeContainer(tx, move.container, move.container_id, { storage: to });
      await changeState(tx, presence.id, move, 'started', { state: 'replicated' });
    });
  } catch (error) {
    // After the lease is lost, the process with it may be done with the move, and does not clean up copies
    // any more.
    for (const { copy } of copies) await rm(copy, { recursive: true, force: true }).catch(() => {});
    throw error;
  }
  for (const key of repositoriesOf(move)) for (const name of [from, to]) repositories.forget(key, name);
  onStep('switched');
}

/** Bytes that the copy must leave free: others write to that disk too. */
const SPARE_BYTES = 256 * 1_048_576;

async function refuseFull(root: string, storage: string, source: string): Promise<void> {
  const disk = await statfs(root);
  const free = disk.bavail * disk.bsize;
  if (free < (await sizeOf(source)) + Math.min(SPARE_BYTES, (disk.blocks * disk.bsize) / 10))
    throw new MoveProblem(`There is no room for the copy in the storage ${storage}.`);
}

type Copy = { source: string; folder: string; copy: string };

/** The sources, their targets, and the names of the copies until they are renamed. */
async function placesOf(run: Run, root: string): Promise<Copy[]> {
  const { services, move } = run;
  const copies: Copy[] = [];
  for (const key of await presentRepositories(run)) {
    const source = services.repositories.folder(key, move.source_storage_name);
    const folder = services.repositories.folder(key, move.destination_storage_name);
    if (await isSameFolder(source, folder)) continue;
    await makeParents(root, folder);
    copies.push({ source, folder, copy: besideOf(folder, move) });
  }
  return copies;
}

/** The container's repositories that exist; throws where one is recorded and its folder is missing. */
async function presentRepositories({ services, move }: Run): Promise<RepositoryKey[]> {
  const recorded = await selectRecorded(services, move);
  const present: RepositoryKey[] = [];
  for (const key of repositoriesOf(move)) {
    const folder = services.repositories.folder(key, move.source_storage_name);
    if (await isFolder(folder)) present.push(key);
    else if (recorded.some(({ wiki }) => wiki === key.wiki))
      throw new MoveProblem(`The ${key.wiki ? "wiki's " : ''}repository is not in the source storage.`);
  }
  return present;
}

/** Makes the container writable first; only then removes the copies. */
async function fail(run: Run, error: unknown): Promise<void> {
  const { services, move } = run;
  const { presence, log } = services;
  const error_message = reasonOf(error);
  log.error('storage move failed', error, { move: move.id, reason: error_message });
  try {
    await transact(run, async (tx) => {
      await lockLease(tx, presence.id, move, ['scheduled', 'started']);
      await changeContainer(tx, move.container, move.container_id, {});
      await markFailed(tx, move, error_message);
    });
    await tidy(run);
  } catch (cause) {
    if (!(cause instanceof LeaseLost)) throw cause;
  }
}

async function cleanUp(run: Run): Promise<void> {
  const { services, move, pace, signal, onStep } = run;
  const { database, presence } = services;
  await sleep(pace.settling, undefined, { signal });
  if (!(await waitUntilFree(run, ['read', 'write', 'tend'], pace.readers)))
    throw new MoveProblem('Readers of the old copy did not end in time.');
  onStep('unread');
  const storage = (await removeCopies(run, 'replicated'))?.storage;
  onStep('set aside');
  await removeAllLeftovers(run);
  onStep('removed');
  await changeState(database.background, presence.id, move, 'replicated', { state: 'finished' });
  await markTidy(database.background, move, storage !== undefined);
  onStep('finished');
}

/** Removes the files of an ended move from the disks: useless copies, or the old one. */
export async function tidy(run: Run): Promise<void> {
  const cleared = await removeCopies(run, 'failed', 'cleanup failed', 'finished');
  // Until the other move is over, this one's remains may be in its way, or be its own.
  if (!cleared) return;
  const { storage } = cleared;
  await removeAllLeftovers(run);
  await markTidy(run.services.database.background, run.move, storage !== undefined);
}

/** Sets aside the container's folders in the storage that is not its; returns its own, or undefined while another move has them. */
async function removeCopies(
  run: Run,
  ...states: MoveState[]
): Promise<{ storage: string | undefined } | undefined> {
  const { services, move } = run;
  const { repositories, presence } = services;
  return transact(run, async (tx) => {
    const { storage } = await lockLease(tx, presence.id, move, states);
    if (await hasOtherMove(tx, move)) return undefined;
    if (storage !== undefined) await requirePresent(run, storage);
    for (const name of [move.source_storage_name, move.destination_storage_name]) {
      if (name === storage || !repositories.storages.has(name)) continue;
      if ((await repositories.uses(move.container, move.container_id, ['read'], name)) > 0)
        throw new MoveProblem('The old copy is still read.');
      for (const key of repositoriesOf(move)) {
        const folder = repositories.folder(key, name);
        const own = storage !== undefined && repositories.storages.has(storage);
        if (own && (await isSameFolder(folder, repositories.folder(key, storage)))) continue;
        repositories.forget(key, name);
        await setAside(folder, move);
      }
    }
    return { storage };
  });
}

/** Requires the one copy that counts: a disk that is gone must not cost the other copy too. */
async function requirePresent({ services, move }: Run, storage: string): Promise<void> {
  const recorded = await selectRecorded(services, move);
  for (const key of repositoriesOf(move)) {
    if (!recorded.some(({ wiki }) => wiki === key.wiki)) continue;
    if (!(await isFolder(services.repositories.folder(key, storage))))
      throw new MoveProblem(`The repository is not in the storage ${storage}: the other copy stays.`);
  }
}

async function removeAllLeftovers({ services, move }: Run): Promise<void> {
  for (const name of [move.source_storage_name, move.destination_storage_name])
    await removeLeftovers(services.repositories, name, move);
}
