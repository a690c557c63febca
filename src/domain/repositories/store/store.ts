/**
 * Repositories on disk: opened for reads, leased for clones and writes; a move waits for leases. The
 * container's row has the storage; a read that misses a moved repository retries.
 */
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  Purpose,
  Repositories,
  RepositoryKey,
  RepositoryLease,
} from '../../../kernel/repository-store.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import { DEAD_AFTER_SECONDS, type Presence } from '../../../platform/db/processes.ts';
import { createDiskGuard } from '../../../platform/disk.ts';
import { Failure } from '../../../platform/failure.ts';
import { createObjectReader } from '../../../platform/git/objects.ts';
import { gitText, NoRepository } from '../../../platform/git/program/program.ts';
import { createRepository } from '../../../platform/git/write.ts';
import { insertFacts } from '../../../platform/outbox/outbox.ts';
import { containerTables, readOnly, repositoryPath } from './containers.ts';
import { WRITE_INTERRUPTED } from './interrupted-writes.ts';

const PASSED_BY =
  '503 Service Unavailable: the repository was moved under the write. Look whether it is there.';
const RELEASE_RETRY_MS = 2_000;

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

  async function whereabouts({ kind, id }: RepositoryKey) {
    const [row] = await points<{ repository_storage: string; repository_read_only: boolean }[]>`
      select repository_storage, repository_read_only from ${points(containerTables[kind])} where id = ${id}`;
    return row;
  }
  const currentStorage = async (key: RepositoryKey) => (await whereabouts(key))?.repository_storage;

  /**
   * Makes the statement's commit asynchronous. The lease is confirmed before its work is done; where the
   * database has lost it, confirm() fails.
   */
  const unsynced = sql`(select set_config('synchronous_commit', 'off', true) offset 0) unsynced`;

  async function hold(key: RepositoryKey, purpose: Purpose): Promise<RepositoryLease> {
    await presence.announce();
    const { kind, id } = key;
    const container = sql(containerTables[kind]);
    // A move makes the row read-only and then checks for writers: the lock on the row serializes the two.
    const lock = purpose === 'read' ? sql`` : sql`for share of c`;
    const [held] = await sql<{ id: number; storage: string }[]>`
      with container as (
        select c.id, c.repository_storage from ${unsynced} cross join ${container} c
        where c.id = ${id} ${purpose === 'read' ? sql`` : sql`and not c.repository_read_only`} ${lock})
      insert into repository_uses (process_id, container, container_id, storage, purpose, began_at)
      select ${presence.id}::uuid, ${kind}::text, id, repository_storage, ${purpose}::text, clock_timestamp() from container
      returning id, storage`;
    if (!held) {
      if ((await currentStorage(key)) === undefined) throw new Failure('not_found', '404 Not found');
      throw readOnly();
    }
    let released: Promise<unknown> | undefined;
    const use: RepositoryLease = {
      git: open(key, held.storage),
      storage: held.storage,
      async confirm() {
        const [still] = await sql`
          select u.id from ${unsynced} cross join ${container} c join repository_uses u on u.id = ${held.id} and u.process_id = ${presence.id}
          where c.id = ${id} and c.repository_storage = ${held.storage} for share of c`;
        if (!still) throw new Failure('unavailable', PASSED_BY);
      },
      async release(cutOff = false) {
        const mine = sql`id = ${held.id} and process_id = ${presence.id}`;
        released ??= cutOff
          ? sql`
            with gone as (delete from repository_uses where ${mine} returning *)
            ${sql.unsafe(insertFacts(''))} select ${WRITE_INTERRUPTED}, jsonb_build_object('kind', container, 'id', container_id, 'began_at', began_at),
              clock_timestamp()
            from gone`
          : sql`delete from repository_uses where ${mine}`;
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
      const row = await whereabouts(key);
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
      let cutOff = false;
      try {
        await ensure(sql, key, lease.git.folder, defaultBranch);
        const value = await work(lease.git);
        await lease.confirm();
        return value;
      } catch (error) {
        cutOff = !(error instanceof Failure) || error.kind === 'unavailable';
        throw error;
      } finally {
        await lease.release(cutOff);
      }
    },
    async uses(kind, id, purposes, storage) {
      const [row] = await sql<{ count: number }[]>`
        select count(*) from repository_uses u join processes p on p.id = u.process_id
        where container = ${kind} and container_id = ${id} and purpose = any(${[...purposes]}::text[])
          and p.beat_at > clock_timestamp() - make_interval(secs => ${DEAD_AFTER_SECONDS})
          and (${storage ?? null}::text is null or storage = ${storage ?? null}::text)`;
      return row?.count ?? 0;
    },
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
  { kind, id, wiki }: RepositoryKey,
  folder: string,
  defaultBranch: string,
): Promise<void> {
  const select = async () =>
    (
      await sql<{ writes: number }[]>`
        select writes from repositories where container = ${kind} and container_id = ${id} and wiki = ${wiki}`
    )[0];
  const known = await select();
  // Before the first write the folder may be missing: a process died between two names of it.
  if (known && (known.writes > 0 || (await exists(folder)))) return;
  const made = await createRepository(folder, defaultBranch);
  if (!made && !known && !(await select()) && (await hasRefs(folder)))
    throw new Failure('unavailable', '503 Service Unavailable: a repository is there that nobody knows of', {
      cause: new Error(`${folder} belongs to nothing in the database`),
    });
  await sql`
    insert into repositories (container, container_id, wiki, created_at)
    values (${kind}, ${id}, ${wiki}, clock_timestamp()) on conflict do nothing`;
}

const exists = (folder: string): Promise<boolean> =>
  access(folder).then(
    () => true,
    () => false,
  );

const hasRefs = async (folder: string): Promise<boolean> =>
  (await gitText(['for-each-ref', '--count=1', '--format=x'], { folder })) !== '';
