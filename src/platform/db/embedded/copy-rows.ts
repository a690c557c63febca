/** All rows of one server's database into another's, which has the same tables: by files that the servers write and read. */
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ConnectionTarget } from '../database.ts';
import type { Sql } from '../driver/sql.ts';

export type CopiedServer = { target: ConnectionTarget; cluster: string };

/** In the folder of a cluster, where its server works. */
const FILE = 'ashlar-rows';
/** As a server calls it: it may enter its working folder alone. */
const pathOf = (cluster: string): string =>
  process.platform === 'linux' ? `/proc/self/cwd/${FILE}` : join(cluster, FILE);

const OURS = "n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')";

type Table = { name: string; columns: string };

const tablesOf = (sql: Sql) =>
  sql.unsafe<Table[]>(`
    select format('%I.%I', n.nspname, c.relname) as name,
      (select string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind = 'r' and ${OURS} order by 1`);

const sequencesOf = (sql: Sql) =>
  sql.unsafe<{ name: string }[]>(`
    select format('%I.%I', n.nspname, c.relname) as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind = 'S' and ${OURS} order by 1`);

type Position = { last_value: string; is_called: boolean };

async function positionOf(sql: Sql, sequence: string): Promise<Position> {
  const [row] = await sql.unsafe<Position[]>(`select last_value::text, is_called from ${sequence}`);
  if (!row) throw new Error(`${sequence} is no sequence`);
  return row;
}

async function countOf(sql: Sql, table: string): Promise<number> {
  const [row] = await sql.unsafe<{ count: number }[]>(`select count(*) as count from ${table}`);
  return row?.count ?? 0;
}

/** Throws unless all tables and sequences are the same afterwards. What `to` had in its tables goes. */
export async function copyRows(from: CopiedServer, to: CopiedServer): Promise<void> {
  const { connect } = await import('../database.ts');
  const options = { max: 1, statementTimeout: 0, name: 'move' };
  const [source, destination] = [connect(from.target, options), connect(to.target, options)];
  const [reader, writer] = [await source.reserve(), await destination.reserve()];
  try {
    const tables = await tablesOf(reader);
    const there = new Map((await tablesOf(writer)).map((table) => [table.name, table.columns]));
    for (const { name, columns } of tables)
      if (there.get(name) !== columns)
        throw new Error(`the table ${name} is another one in the new database`);
    if (there.size !== tables.length) throw new Error('the new database has other tables');
    await writer.unsafe('set session_replication_role = replica');
    if (tables.length > 0) await writer.unsafe(`truncate ${tables.map(({ name }) => name).join(', ')}`);
    for (const { name, columns } of tables) {
      await reader.unsafe(`copy ${name} (${columns}) to '${pathOf(from.cluster).replaceAll("'", "''")}'`);
      renameSync(join(from.cluster, FILE), join(to.cluster, FILE));
      await writer.unsafe(`copy ${name} (${columns}) from '${pathOf(to.cluster).replaceAll("'", "''")}'`);
      const [before, after] = [await countOf(reader, name), await countOf(writer, name)];
      if (before !== after) throw new Error(`${after} of ${before} rows of ${name} arrived`);
    }
    rmSync(join(to.cluster, FILE), { force: true });
    for (const { name } of await sequencesOf(reader)) {
      const { last_value, is_called } = await positionOf(reader, name);
      await writer.unsafe(`select setval('${name.replaceAll("'", "''")}', ${last_value}, ${is_called})`);
    }
    await writer.unsafe('analyze');
  } finally {
    reader.release();
    writer.release();
    await source.end();
    await destination.end();
  }
}
