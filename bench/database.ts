/** The embedded database of a data folder: reached beside the running program, and filled by SQL. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { migrateDatabase } from '../src/instance.ts';
import { type ConnectionTarget, connect } from '../src/platform/db/database.ts';
import type { Sql } from '../src/platform/db/driver/sql.ts';
import { startEmbedded } from '../src/platform/db/embedded/embedded.ts';

/** The connection to the database of a running program. */
export const databaseOf = (data: string): ConnectionTarget => ({
  host: readFileSync(join(data, 'postgres-run'), 'utf8'),
  user: 'ashlar',
  password: readFileSync(join(data, 'postgres-password'), 'utf8').trim(),
  database: 'postgres',
});

/** Loading need not be durable, and the indexes are built once. */
const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  maintenance_work_mem: '512MB',
  max_wal_size: '8GB',
};

/** Makes and fills the database of a data folder that no program uses, and stops it again. */
export async function fill(data: string, work: (sql: Sql) => Promise<void>): Promise<void> {
  const server = await startEmbedded(data, { settings });
  await migrateDatabase(server.connection, { data, files: data });
  const sql = connect(server.connection, { max: 1, statementTimeout: 0, name: 'bench' });
  await work(sql);
  await sql.end();
  await server.stop();
}

/** Inserts without the indexes of a table, and builds them again. */
export async function withoutIndexes(sql: Sql, table: string, insert: () => Promise<unknown>): Promise<void> {
  const indexes = await sql<{ indexname: string; indexdef: string }[]>`
    select indexname, indexdef from pg_indexes i
    where tablename = ${table} and not exists (select from pg_constraint c where c.conname = i.indexname)`;
  for (const { indexname } of indexes) await sql.unsafe(`drop index ${indexname}`);
  await insert();
  for (const { indexdef } of indexes) await sql.unsafe(indexdef);
}
