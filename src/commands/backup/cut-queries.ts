/** The cut: one snapshot of the database, and the refs of each repository that it explains. */
import { WRITES_WAIT_UNTIL } from '../../domain/repositories/index.ts';
import type { RepositoryKey } from '../../kernel/repository-store.ts';
import { BACKUP_LOCK } from '../../platform/blobs/blobs.ts';
import type { CopyConnection } from '../../platform/db/driver/copy.ts';
import { DEAD_AFTER_SECONDS } from '../../platform/db/processes.ts';
import type { Header } from './format.ts';
import { tableRules } from './rules.ts';

/** A repository as the database has it. Numbers beyond those of JavaScript stay texts. */
export type Stored = {
  id: string;
  kind: RepositoryKey['kind'];
  container: string;
  wiki: boolean;
  storage: string;
};

const tables = [
  ['project', 'projects'],
  ['snippet', 'snippets'],
  ['group', 'group_wikis'],
] as const;

/** What a use of the repositories for writing changes, and each change of the container's row: the version, and its last lock. */
const containers = `(${tables
  .map(
    ([kind, table]) =>
      `select '${kind}' as kind, id, repository_storage as storage, ctid::text || ' ' || xmin::text || ' ' || xmax::text as mark from ${table}`,
  )
  .join(' union all ')})`;

/** All repositories, in the order of a backup. */
export const selectStored = (connection: CopyConnection): Promise<Stored[]> =>
  connection.ask<Stored>(`
    select r.id::text as id, r.container as kind, r.container_id::text as container, r.wiki, c.storage
    from repositories r join ${containers} c on c.kind = r.container and c.id = r.container_id order by r.id`);

export const containerOf = ({ kind, container }: Pick<Stored, 'kind' | 'container'>): string =>
  `${kind} ${container}`;

/**
 * The marks of the containers of repositories as they are now, whatever snapshot the connection has otherwise. A use for writing
 * locks the container's row, which changes its mark, before anything is written, and so does a change of the row.
 */
export async function selectMarks(connection: CopyConnection): Promise<Map<string, string>> {
  const rows = await connection.ask<{ name: string; mark: string }>(`
    select c.kind || ' ' || c.id as name, c.mark from ${containers} c
    where exists (select from repositories r where r.container = c.kind and r.container_id = c.id)`);
  return new Map(rows.map(({ name, mark }) => [name, mark]));
}

/** Begins a transaction with a snapshot, until whose end no vacuum clears a lock of after it from a row. */
export const keepMarks = (connection: CopyConnection): Promise<object[]> =>
  connection.ask('begin isolation level repeatable read, read only; select 1 as n');

const begun = `
  select virtualtransaction as name from pg_locks
  where locktype = 'relation' and relation = 'repository_uses'::regclass and mode = 'RowExclusiveLock' and pid <> pg_backend_pid()`;

/**
 * The uses that are being recorded now: one may have locked its container before the marks were read, and be in no snapshot yet.
 */
export async function selectBegun(connection: CopyConnection): Promise<Set<string>> {
  return new Set((await connection.ask<{ name: string }>(begun)).map(({ name }) => name));
}

/** The containers that somebody writes to now; `settled`: also those pushes of git that a restored program records by itself. */
export async function selectWritten(
  connection: CopyConnection,
  { settled }: { settled: boolean },
): Promise<Set<string>> {
  const rows = await connection.ask<{ name: string }>(`
    select distinct u.container || ' ' || u.container_id as name
    from repository_uses u join processes p on p.id = u.process_id
    where u.purpose = 'write' and p.beat_at > clock_timestamp() - make_interval(secs => ${DEAD_AFTER_SECONDS})
      ${settled ? '' : "and (u.pushed is null or u.pushed ? 'request')"}`);
  return new Set(rows.map(({ name }) => name));
}

/** No write of any repository begins from now on, for so many milliseconds or until letWrites(). */
export const holdWrites = (connection: CopyConnection, milliseconds: number): Promise<object[]> =>
  connection.ask(`
    insert into instance_facts (name, value)
    values ('${WRITES_WAIT_UNTIL}', to_jsonb(clock_timestamp() + interval '${milliseconds} milliseconds'))
    on conflict (name) do update set value = excluded.value`);

export const letWrites = (connection: CopyConnection): Promise<object[]> =>
  connection.ask(`delete from instance_facts where name = '${WRITES_WAIT_UNTIL}'`);

/** False where another backup runs. Blobs are removed by nobody until the connection ends. */
export async function holdBlobs(connection: CopyConnection): Promise<boolean> {
  await connection.ask("set lock_timeout = '60s'");
  const [other] = await connection.ask<{ n: number }>(`
    select 1 as n from pg_locks where locktype = 'advisory' and mode = 'ExclusiveLock' and granted
      and database = (select oid from pg_database where datname = current_database())
      and (classid::bigint << 32 | objid::bigint) = ${BACKUP_LOCK}`);
  if (other) return false;
  await connection.ask(`select pg_advisory_lock(${BACKUP_LOCK})`);
  return true;
}

/** Holds the folders of all repositories, so that no removal takes one away. */
export const holdRepositories = (connection: CopyConnection, processId: string): Promise<object[]> =>
  connection.ask(`
    insert into repository_uses (process_id, container, container_id, storage, purpose, began_at)
    select '${processId}'::uuid, c.kind, c.id, c.storage, 'read', clock_timestamp()
    from ${containers} c
    where exists (select from repositories r where r.container = c.kind and r.container_id = c.id)
      and not exists (select from repository_uses u where u.process_id = '${processId}'::uuid and u.container = c.kind and u.container_id = c.id and u.storage = c.storage)`);

/** Whether a repository is being repacked. Whole repacks are given up for a backup, in some seconds. */
export async function areRepacked(connection: CopyConnection): Promise<boolean> {
  const found = await connection.ask<{ n: number }>(`
    select 1 as n from repository_uses u join processes p on p.id = u.process_id
    where u.purpose = 'tend' and p.beat_at > clock_timestamp() - make_interval(secs => ${DEAD_AFTER_SECONDS}) limit 1`);
  return found.length > 0;
}

export const releaseRepositories = (connection: CopyConnection, processId: string): Promise<object[]> =>
  connection.ask(`delete from repository_uses where process_id = '${processId}'::uuid`);

type Described = Pick<Header, 'migrations' | 'tables' | 'sequences' | 'secret_key_id'>;

/** What the header says of the database, by the catalogue. */
export async function describeDatabase(snapshot: CopyConnection): Promise<Described> {
  const migrations = await snapshot.ask<{ name: string; digest: string }>(
    'select name, digest from migrations order by name',
  );
  const columns = await snapshot.ask<{ table: string; column: string }>(`
    select c.relname as table, a.attname as column from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' order by c.relname collate "C", a.attnum`);
  const listed = new Map<string, string[]>();
  for (const { table, column } of columns)
    if (tableRules[table]?.do !== 'drop') listed.set(table, [...(listed.get(table) ?? []), column]);
  const sequences = await snapshot.ask<{ name: string }>(
    "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'S' order by relname",
  );
  const values: Header['sequences'] = [];
  for (const { name } of sequences) {
    const [found] = await snapshot.ask<{ value: string; called: boolean }>(
      `select last_value::text as value, is_called as called from public."${name}"`,
    );
    if (found) values.push({ name, ...found });
  }
  const [key] = await snapshot.ask<{ id: string }>(
    `select btrim(value #>> '{}', '"') as id from instance_facts where name = 'secret_key_id'`,
  );
  return {
    migrations,
    sequences: values,
    secret_key_id: key?.id ?? '',
    tables: [...listed].map(([name, of]) => ({ name, columns: of })),
  };
}

/** Returns the number of rows at its end. */
export function copyOutTable(
  snapshot: CopyConnection,
  { name, columns }: Header['tables'][number],
): AsyncGenerator<Buffer, number> {
  const rule = tableRules[name];
  const where = rule?.do === 'keep' ? ` where ${rule.where}` : '';
  const list = columns.map((column) => `"${column}"`).join(', ');
  return snapshot.copyOut(`copy (select ${list} from public."${name}"${where}) to stdout`);
}

/** Jobs, with what a restore needs to add them again: those that failed too often, too, begin anew. */
export const copyOutJobs = (snapshot: CopyConnection): AsyncGenerator<Buffer, number> =>
  snapshot.copyOut(`
    copy (select t.identifier, j.payload::text, q.queue_name, j.run_at, j.max_attempts, j.key, j.priority
      from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
      left join graphile_worker._private_job_queues q on q.id = j.job_queue_id
      order by j.run_at, j.id) to stdout`);

/** Their names, one on each line, in the order of a backup. */
export const copyOutBlobs = (snapshot: CopyConnection): AsyncIterable<Buffer> =>
  snapshot.copyOut("copy (select encode(sha256, 'hex') from blobs order by sha256) to stdout");
