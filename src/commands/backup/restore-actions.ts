/** Fills a new database with the rows of a backup. */

import { type ConnectionTarget, connect } from '../../platform/db/database.ts';
import type { CopyConnection } from '../../platform/db/driver/copy.ts';
import { migrateRestored, RESTORE_MARK } from '../../platform/db/migrations.ts';
import { migrateJobs } from '../../platform/jobs/jobs.ts';
import { BadBackup, type Header } from './format.ts';
import { goesOn } from './rules.ts';

/** Statements on a restored database that has this program's migrations, before anything is served. */
const afterLoading: readonly string[] = [
  // No process of the backup is at work here.
  "update processes set beat_at = '-infinity'",
  // All bytes are in the folder, and the object store of the other is not touched.
  'update blobs set object = null where object is not null',
  // Their destination was another machine's disk.
  "update storage_moves set state = 'failed', error_message = 'A backup was restored.', process_id = null where state in ('initial', 'scheduled', 'started', 'replicated')",
  // Whoever ran them is not here; they are due again.
  'update mirrors set runner = null where runner is not null',
];

export async function requireEmpty(connection: CopyConnection): Promise<void> {
  const [found] = await connection.ask<{ name: string }>(`
    select n.nspname || '.' || c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
      and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
    order by 1 limit 1`);
  if (found) throw new Error(`the database has tables already (${found.name}): a restore needs an empty one`);
}

/** Statements that make a restored database whole again. */
export type Postponed = { indexes: string[]; keys: string[] };

async function migrateTo(
  target: ConnectionTarget,
  migrations: string,
  had?: ReadonlySet<string>,
): Promise<void> {
  const sql = connect(target, { max: 2, statementTimeout: 0, name: 'restore' });
  try {
    await migrateRestored(sql, migrations, had);
  } finally {
    await sql.end();
  }
  await migrateJobs(target);
}

const ofPublic = "connamespace = 'public'::regnamespace and conrelid <> 'migrations'::regclass";

/**
 * The tables as the backup's program had them, without rows, and without what would look at rows while they come: that is made when
 * all are there. So are the indexes of large tables; an index that is made anew waits for the disk, which is most of what a
 * small table costs.
 */
export async function prepareTables(
  connection: CopyConnection,
  target: ConnectionTarget,
  migrations: string,
  { header, large }: { header: Header; large: readonly string[] },
): Promise<Postponed> {
  await migrateTo(target, migrations, new Set(header.migrations.map(({ name }) => name)));
  await connection.ask(`insert into migrations (name, digest) values ('${RESTORE_MARK}', '')`);
  // A restore that is cut off is begun anew: the last statement waits for the disk, for all before it.
  await connection.ask('set synchronous_commit = off');
  const names = large.map((name) => `'${name.replaceAll("'", "''")}'`).join(', ');
  const isLarge = (oid: string): string =>
    names === '' ? 'false' : `(select relname from pg_class where oid = ${oid}) in (${names})`;
  const constraints = await connection.ask<{
    table: string;
    name: string;
    type: string;
    definition: string;
  }>(`
    select conrelid::regclass::text as table, quote_ident(conname) as name, contype as type, pg_get_constraintdef(oid) as definition
    from pg_constraint where (contype = 'f' or contype in ('p', 'u', 'x') and ${isLarge('conrelid')}) and ${ofPublic} order by contype = 'f' desc, 1, 2`);
  for (const { table, name } of constraints)
    await connection.ask(`alter table ${table} drop constraint ${name}`);
  const indexes = await connection.ask<{ name: string; definition: string }>(`
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
    from pg_index join pg_class c on c.oid = indrelid
    where c.relnamespace = 'public'::regnamespace and c.relname <> 'migrations' and ${isLarge('indrelid')} order by 1`);
  for (const { name } of indexes) await connection.ask(`drop index ${name}`);
  const tables = await connection.ask<{ name: string }>(`
    select c.oid::regclass::text as name from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname <> 'migrations'`);
  for (const { name } of tables)
    await connection.ask(`alter table ${name} disable trigger user; delete from ${name}`);
  const add = (isForeign: boolean): string[] =>
    constraints
      .filter(({ type }) => (type === 'f') === isForeign)
      .map(({ table, name, definition }) => `alter table ${table} add constraint ${name} ${definition}`);
  return { indexes: [...add(false), ...indexes.map(({ definition }) => definition)], keys: add(true) };
}

/** Rows of a table, from an entry. */
export async function copyIn(
  connection: CopyConnection,
  header: Header,
  table: string,
  pieces: AsyncIterable<Buffer>,
): Promise<void> {
  const known = header.tables.find(({ name }) => name === table);
  if (!known || table === 'migrations') throw new BadBackup(`its header has no table ${table}`);
  const columns = known.columns.map((each) => `"${each}"`).join(', ');
  await connection.copyIn(`copy public."${table}" (${columns}) from stdin`, pieces);
}

export async function copyInJobs(connection: CopyConnection, pieces: AsyncIterable<Buffer>): Promise<void> {
  await connection.ask(
    'create temporary table if not exists old_jobs (place bigint generated always as identity, task text, payload text, queue text, run_at timestamptz, attempts smallint, key text, priority smallint)',
  );
  await connection.copyIn(
    'copy old_jobs (task, payload, queue, run_at, attempts, key, priority) from stdin',
    pieces,
  );
}

/** Those that go on run when the program starts. */
async function addJobs(connection: CopyConnection): Promise<void> {
  const [there] = await connection.ask<{ there: boolean }>(
    "select to_regclass('pg_temp.old_jobs') is not null as there",
  );
  if (!there?.there) return;
  const tasks = await connection.ask<{ task: string }>('select distinct task from old_jobs');
  const names = tasks
    .map(({ task }) => task)
    .filter(goesOn)
    .map((task) => `'${task.replaceAll("'", "''")}'`);
  if (names.length > 0)
    await connection.ask(`
      select count(*) from (select graphile_worker.add_job(task, payload::json, queue, run_at, attempts::integer, key, priority::integer)
        from (select * from old_jobs where task in (${names.join(', ')}) order by place) o) added`);
}

/** All rows are there: keys and indexes are made, this program's migrations applied, and the rules of a restore. */
export async function finishTables(
  connection: CopyConnection,
  target: ConnectionTarget,
  migrations: string,
  { header, postponed, storages }: { header: Header; postponed: Postponed; storages: readonly string[] },
): Promise<void> {
  for (const { name, value, called } of header.sequences)
    await connection.ask(`select setval('public."${name}"', ${value}, ${called})`);
  await connection.ask("set maintenance_work_mem = '256MB'");
  for (const statement of postponed.indexes) await connection.ask(statement);
  // Storages are of a machine: what is in none that is named here is in the first one.
  const known = storages.map((name) => `'${name.replaceAll("'", "''")}'`).join(', ');
  for (const table of ['projects', 'snippets', 'group_wikis'])
    await connection.ask(
      `update ${table} set repository_storage = 'default', repository_read_only = false where repository_storage not in (${known}) or repository_read_only`,
    );
  for (const statement of postponed.keys) await connection.ask(statement);
  const tables = await connection.ask<{ name: string }>(
    "select c.oid::regclass::text as name from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'",
  );
  for (const { name } of tables) await connection.ask(`alter table ${name} enable trigger user`);
  await addJobs(connection);
  await migrateTo(target, migrations);
  for (const statement of afterLoading) await connection.ask(statement);
  await connection.ask('analyze');
}

/** The database is whole then. */
export const removeMark = (connection: CopyConnection): Promise<object[]> =>
  connection.ask(`set synchronous_commit = on; delete from migrations where name = '${RESTORE_MARK}'`);
