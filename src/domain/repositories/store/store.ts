/**
 * Repositories on disk: opened for reads, leased for clones and writes; a move waits for leases. The
 * container's row has the storage; a read that misses a moved repository retries.
 */
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  Purpose,
  PushIntent,
  Repositories,
  RepositoryKey,
  RepositoryLease,
} from '../../../kernel/repository-store.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import type { Presence } from '../../../platform/db/processes.ts';
import { Failure } from '../../../platform/failure.ts';
import { createObjectReader } from '../../../platform/git/objects.ts';
import { gitText, NoRepository } from '../../../platform/git/program/program.ts';
import { createRepository } from '../../../platform/git/write.ts';
import { createDiskGuard } from '../../../platform/machine/disk.ts';
import {
  confirmUse,
  deleteUse,
  endUse,
  insertRepository,
  insertUse,
  mustWritesWait,
  recordIntent,
  type Use,
} from './actions.ts';
import { readOnly, repositoryPath } from './containers.ts';
import { countUses, selectStorage, selectWrites } from './queries.ts';

const PASSED_BY =
  '503 Service Unavailable: the repository was moved under the write. Look whether it is there.';
const RELEASE_RETRY_MS = 2_000;
const WAIT_POLL_MS = 20;

/** Ends by confirm() and release() in one. */
type Held = RepositoryLease & { end(): Promise<void>; intend(pushed: PushIntent): Promise<void> };

export function createRepositories(
  database: Pick<Database, 'sql' | 'points'>,
  presence: Presence,
  storages: ReadonlyMap<string, string>,
): Repositories {
  const { sql, points } = database;
  const reader = createObjectReader();
  const disks = new Map([...storages].map(([name, root]) => [name, createDiskGuard(root)]));

  function folder(key: RepositoryKey, storage: string): string {
    const root = storages.get(storage);
    if (root === undefined)
      throw new Failure('unavailable', `503 Service Unavailable: no storage is named ${storage}`);
    return join(root, repositoryPath(key));
  }
  const open = (key: RepositoryKey, storage: string) => reader.open(folder(key, storage));

  const currentStorage = async (key: RepositoryKey) => (await selectStorage(points, key))?.repository_storage;

  let waiting: Promise<boolean> | undefined;
  /** Resolves when writes may begin, with whether they had to wait: one question for all that wait, who hold no connection. */
  function awaitWrites(): Promise<boolean> {
    const wait = async (): Promise<boolean> => {
      let waited = false;
      for (; await mustWritesWait(points); waited = true) await sleep(WAIT_POLL_MS);
      return waited;
    };
    waiting ??= wait().finally(() => {
      waiting = undefined;
    });
    return waiting;
  }

  async function begin(key: RepositoryKey, purpose: Purpose, pushed?: PushIntent): Promise<Use | undefined> {
    let held = await insertUse(sql, presence.id, key, purpose, pushed);
    for (let waited = purpose === 'write'; !held && waited; ) {
      waited = await awaitWrites();
      // Once more where nobody waits any more: they may have, when it was tried.
      held = await insertUse(sql, presence.id, key, purpose, pushed);
    }
    return held;
  }

  async function hold(key: RepositoryKey, purpose: Purpose, pushed?: PushIntent): Promise<Held> {
    await presence.announce();
    const held = await begin(key, purpose, pushed);
    if (!held) {
      if ((await currentStorage(key)) === undefined) throw new Failure('not_found', '404 Not found');
      throw readOnly();
    }
    let released: Promise<void> | undefined;
    const use: Held = {
      git: open(key, held.storage),
      storage: held.storage,
      writes: held.writes ?? undefined,
      async end() {
        if (!(await endUse(sql, held))) throw new Failure('unavailable', PASSED_BY);
      },
      intend: (pushed) => recordIntent(sql, held, pushed),
      async confirm() {
        if (!(await confirmUse(sql, held))) throw new Failure('unavailable', PASSED_BY);
      },
      async release(cutOff = false) {
        released ??= deleteUse(sql, held, cutOff);
        try {
          await released;
        } catch (error) {
          // A lease that stays would keep the repository from ever moving.
          released = undefined;
          setTimeout(() => void use.release(cutOff).catch(() => {}), RELEASE_RETRY_MS).unref();
          throw error;
        }
      },
    };
    try {
      if (purpose !== 'read') disks.get(held.storage)?.refuseWrites();
    } catch (error) {
      await use.release();
      throw error;
    }
    return use;
  }

  return {
    storages,
    folder,
    open,
    lease: hold,
    async locate(key, purpose) {
      const row = await selectStorage(points, key);
      if (!row) return undefined;
      const { repository_storage: storage, repository_read_only: isReadOnly } = row;
      if (purpose !== 'read') {
        if (isReadOnly) throw readOnly();
        disks.get(storage)?.refuseWrites();
      }
      return open(key, storage);
    },
    async read(key, storage, work) {
      try {
        return await work(open(key, storage));
      } catch (error) {
        // A missing repository or object may have moved.
        const missing = error instanceof NoRepository;
        if (!missing && !(error instanceof Failure && error.kind === 'not_found')) throw error;
        const current = await currentStorage(key);
        if (current !== undefined && current !== storage) return work(open(key, current));
        if (missing) return undefined;
        throw error;
      }
    },
    async write(key, defaultBranch, work) {
      const lease = await hold(key, 'write');
      try {
        await ensure(sql, key, lease, defaultBranch);
        const value = await work(lease.git, lease.intend);
        await lease.end();
        return value;
      } catch (error) {
        await lease.release(!(error instanceof Failure) || error.kind === 'unavailable');
        throw error;
      }
    },
    uses: (kind, id, purposes, storage) => countUses(sql, { kind, id }, purposes, storage),
    forget: (key, storage) => reader.forget(folder(key, storage)),
    stop() {
      reader.stop();
      for (const disk of disks.values()) disk.stop();
    },
  };
}

/** Creates the repository where its container has none yet; the caller has it leased for writing. */
export async function ensure(
  sql: Sql,
  key: RepositoryKey,
  { git: { folder }, writes }: Pick<RepositoryLease, 'git' | 'writes'>,
  defaultBranch: string,
): Promise<void> {
  // Before the first write the folder may be missing: a process died between two names of it.
  if (writes !== undefined && (writes > 0 || (await exists(folder)))) return;
  const made = await createRepository(folder, defaultBranch);
  const isKnown = async () => writes !== undefined || (await selectWrites(sql, key)) !== undefined;
  if (!made && !(await isKnown()) && (await hasRefs(folder)))
    throw new Failure('unavailable', '503 Service Unavailable: a repository is there that nobody knows of', {
      cause: new Error(`${folder} belongs to nothing in the database`),
    });
  await insertRepository(sql, key);
}

const exists = (folder: string): Promise<boolean> =>
  access(folder).then(
    () => true,
    () => false,
  );

const hasRefs = async (folder: string): Promise<boolean> =>
  (await gitText(['for-each-ref', '--count=1', '--format=x'], { folder })) !== '';
