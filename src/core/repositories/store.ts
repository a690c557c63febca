/**
 * The repositories on disk: opened for reading, held while a clone runs, written under a record that a move waits for.
 * Their place is in the container's row; a reader that comes too late for a move looks again.
 */
import { join } from 'node:path';
import type postgres from 'postgres';
import { monotonic } from '../../platform/clock.ts';
import type { Database } from '../../platform/db/database.ts';
import { DEAD_AFTER_SECONDS, type Presence } from '../../platform/db/processes.ts';
import { Failure } from '../../platform/failure.ts';
import { createObjectReader, type GitFolder } from '../../platform/git/objects.ts';
import { NoRepository } from '../../platform/git/program.ts';
import { createRepository } from '../../platform/git/write.ts';
import type { ContainerKind } from './containers.ts';
import { containerTables, type RepositoryKey, readOnly, repositoryPath } from './containers.ts';

export type Purpose = 'read' | 'write' | 'tend';

export type Held = {
  git: GitFolder;
  storage: string;
  /** Called before a write is acknowledged: 503 when others may have taken this process for dead, and passed it by. */
  confirm(): void;
  release(): Promise<void>;
};

export type Repositories = {
  /** Folders by the names of the storages, as the settings have them. */
  readonly storages: ReadonlyMap<string, string>;
  /** The folder of a repository in a storage; 503 when the settings know no such storage. */
  folder(key: RepositoryKey, storage: string): string;
  open(key: RepositoryKey, storage: string): GitFolder;
  /**
   * Reads; `storage` is where the container's row said that it is. Undefined when there is no repository yet. Work may be
   * done twice, where a move has ended meanwhile.
   */
  read<T>(key: RepositoryKey, storage: string, work: (git: GitFolder) => Promise<T>): Promise<T | undefined>;
  /** Holds it for something long: the folder stays until release(). 403 for a write while it is read-only. */
  hold(key: RepositoryKey, purpose: Purpose): Promise<Held>;
  /** Holds it for writing while the work runs, and makes it first where it is not there yet. */
  write<T>(key: RepositoryKey, defaultBranch: string, work: (git: GitFolder) => Promise<T>): Promise<T>;
  /** How many hold the container for one of the purposes, dead processes left out. */
  uses(kind: ContainerKind, id: number, purposes: readonly Purpose[], storage?: string): Promise<number>;
  /** The folder is going, or has come anew: nobody here reads it any more. */
  forget(key: RepositoryKey, storage: string): void;
  stop(): void;
};

const LAPSED = '503 Service Unavailable: the write took too long to be sure of it. Look whether it is there.';

export function createRepositories(
  database: Pick<Database, 'sql' | 'points'>,
  presence: Presence,
  storages: ReadonlyMap<string, string>,
): Repositories {
  const { sql } = database;
  const reader = createObjectReader();

  function folder(key: RepositoryKey, storage: string): string {
    const root = storages.get(storage);
    if (root === undefined)
      throw new Failure('unavailable', `503 Service Unavailable: no storage is named ${storage}`);
    return join(root, repositoryPath(key));
  }
  const open = (key: RepositoryKey, storage: string) => reader.open(folder(key, storage));

  async function currentStorage({ kind, id }: RepositoryKey): Promise<string | undefined> {
    const [row] = await sql<{ repository_storage: string }[]>`
      select repository_storage from ${sql(containerTables[kind])} where id = ${id}`;
    return row?.repository_storage;
  }

  async function hold(key: RepositoryKey, purpose: Purpose): Promise<Held> {
    await presence.announce();
    const since = monotonic();
    const { kind, id } = key;
    const container = sql(containerTables[kind]);
    // A move makes the row read-only and then looks who writes: the lock on the row puts the two in an order.
    const lock = purpose === 'read' ? sql`` : sql`for share`;
    const [held] = await sql<{ id: number; storage: string }[]>`
      with container as (
        select id, repository_storage from ${container}
        where id = ${id} ${purpose === 'read' ? sql`` : sql`and not repository_read_only`} ${lock})
      insert into repository_uses (process_id, container, container_id, storage, purpose, began_at)
      select ${presence.id}::uuid, ${kind}::text, id, repository_storage, ${purpose}::text, clock_timestamp() from container
      returning id, storage`;
    if (!held) {
      if ((await currentStorage(key)) === undefined) throw new Failure('not_found', '404 Not found');
      throw readOnly();
    }
    let released: Promise<unknown> | undefined;
    return {
      git: open(key, held.storage),
      storage: held.storage,
      confirm() {
        if (presence.lapsedSince(since)) throw new Failure('unavailable', LAPSED);
      },
      async release() {
        released ??= sql`delete from repository_uses where id = ${held.id}`;
        await released;
      },
    };
  }

  return {
    storages,
    folder,
    open,
    hold,
    async read(key, storage, work) {
      try {
        return await work(open(key, storage));
      } catch (error) {
        if (!(error instanceof NoRepository)) throw error;
        const current = await currentStorage(key);
        if (current === undefined || current === storage) return undefined;
        return work(open(key, current));
      }
    },
    async write(key, defaultBranch, work) {
      const held = await hold(key, 'write');
      try {
        await ensure(sql, key, held.git.folder, defaultBranch);
        const value = await work(held.git);
        held.confirm();
        return value;
      } finally {
        await held.release();
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
    stop: () => reader.stop(),
  };
}

/** Makes the repository where its container has none yet; whoever holds it for writing calls this. */
export async function ensure(
  sql: postgres.Sql,
  { kind, id, wiki }: RepositoryKey,
  folder: string,
  defaultBranch: string,
): Promise<void> {
  const [known] = await sql`
    select id from repositories where container = ${kind} and container_id = ${id} and wiki = ${wiki}`;
  if (known) return;
  await createRepository(folder, defaultBranch);
  await sql`
    insert into repositories (container, container_id, wiki, created_at)
    values (${kind}, ${id}, ${wiki}, clock_timestamp()) on conflict do nothing`;
}
