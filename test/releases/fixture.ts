/**
 * The data of a release as a small fixture: rows as PostgreSQL writes them, by table; files as a tar file; what the release
 * said of them. The schema is what the migrations of that release make, whose texts never change.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { migrationsFolder } from '../../src/instance.ts';
import type { PoolSql, Sql } from '../../src/platform/db/driver/sql.ts';
import { migrate } from '../../src/platform/db/migrations.ts';
import type { Answers } from './answers.ts';
import type { Contents } from './contents.ts';

export const releasesFolder = import.meta.dirname;

export type Said = { contents: Contents; answers: Answers; refs: Record<string, string> };

type Table = { table: string; columns: string[]; rows: string[] };
type Rows = {
  /** When the data were made. */
  made: string;
  /** Names of the migrations that were applied. */
  migrations: string[];
  tables: Table[];
  sequences: { sequence: string; value: number }[];
};

const pack = (value: unknown): Buffer =>
  zstdCompressSync(Buffer.from(JSON.stringify(value)), {
    params: { [constants.ZSTD_c_compressionLevel]: 19 },
  });
const unpack = <T>(file: string): T => JSON.parse(`${zstdDecompressSync(readFileSync(file))}`) as T;

/** Of what PostgreSQL made itself, nothing. */
const SCHEMAS = "('pg_catalog', 'information_schema', 'pg_toast')";

async function readRows(sql: PoolSql): Promise<Rows> {
  const tables = await sql.unsafe<{ table: string; columns: string[] }[]>(`
    select format('%I.%I', n.nspname, c.relname) as table,
      (select array_agg(quote_ident(attname) order by attnum) from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and n.nspname not in ${SCHEMAS} order by 1`);
  const filled: Table[] = [];
  for (const { table, columns } of tables) {
    const rows = await sql.unsafe<{ row: string }[]>(`select t::text as row from ${table} t order by 1`);
    if (rows.length > 0) filled.push({ table, columns, rows: rows.map(({ row }) => row) });
  }
  const sequences = await sql.unsafe<{ sequence: string; value: number }[]>(`
    select format('%I.%I', schemaname, sequencename) as sequence, last_value as value
    from pg_sequences where last_value is not null order by 1`);
  const migrations = await sql<{ name: string }[]>`select name from migrations order by name`;
  const made = new Date().toISOString();
  return { made, migrations: migrations.map(({ name }) => name), tables: filled, sequences: [...sequences] };
}

/** Writes the fixture of a release, which does not run any more: its database by `sql`, and its data folder. */
export async function writeFixture(name: string, sql: PoolSql, data: string, said: Said): Promise<void> {
  const folder = join(releasesFolder, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'rows.json.zst'), pack(await readRows(sql)));
  writeFileSync(join(folder, 'answers.json.zst'), pack(said));
  const excluded = ['postgres*', 'lock', 'pid', 'mail', 'root-password'].map((each) => `--exclude=./${each}`);
  const tar = execFileSync(
    'tar',
    ['-c', '--sort=name', '--owner=0', '--group=0', '--mtime=2026-01-01', ...excluded, '.'],
    { cwd: data, maxBuffer: 64 * 1_048_576 },
  );
  writeFileSync(
    join(folder, 'files.tar.zst'),
    zstdCompressSync(tar, { params: { [constants.ZSTD_c_compressionLevel]: 19 } }),
  );
}

export const readSaid = (name: string): Said => unpack(join(releasesFolder, name, 'answers.json.zst'));

/** Lays the files of a release into an empty folder. */
export function layFiles(name: string, data: string): void {
  const tar = zstdDecompressSync(readFileSync(join(releasesFolder, name, 'files.tar.zst')));
  execFileSync('tar', ['-x'], { cwd: data, input: tar });
}

/** The last migration of a release. */
export const lastMigration = (name: string): string =>
  unpack<Rows>(join(releasesFolder, name, 'rows.json.zst')).migrations.at(-1) ?? '';

/** Applies the migrations that the release had. */
export async function migrateAsReleased(
  name: string,
  sql: PoolSql,
  alongside: () => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'ashlar-released-'));
  try {
    const last = `${lastMigration(name)}.sql`;
    for (const file of readdirSync(migrationsFolder).filter((each) => each <= last))
      cpSync(join(migrationsFolder, file), join(folder, file));
    await migrate(sql, folder, alongside);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const begun = Date.now();

/**
 * Milliseconds, in whole seconds, since the data were made. All times in them are later by as many: runners, tokens, artifacts and
 * whatever else gets old are as they were, in however many years the fixture is read.
 */
export const ageOf = (name: string): number =>
  Math.floor((begun - Date.parse(unpack<Rows>(join(releasesFolder, name, 'rows.json.zst')).made)) / 1000) *
  1000;

/** Fills tables that the release's migrations have made, and are empty. Times are later by the age of the data. */
export async function loadRows(name: string, sql: Sql): Promise<void> {
  const { tables, sequences } = unpack<Rows>(join(releasesFolder, name, 'rows.json.zst'));
  await sql.unsafe('set session_replication_role = replica');
  const age = ageOf(name);
  const days = Math.round(age / 86_400_000);
  const later: Record<string, string> = { date: ` + ${days}`, time: ` + interval '${age / 1000} s'` };
  for (const { table, columns, rows } of tables) {
    const types = await sql.unsafe<{ name: string; type: string }[]>(`
      select quote_ident(attname) as name,
        case when atttypid = 'date'::regtype then 'date'
          when atttypid in ('timestamptz'::regtype, 'timestamp'::regtype) then 'time' else '' end as type
      from pg_attribute where attrelid = '${table.replaceAll("'", "''")}'::regclass and attnum > 0 and not attisdropped`);
    const typeOf = new Map(types.map((column) => [column.name, column.type]));
    const values = columns
      .map((column) => `(r).${column}${later[typeOf.get(column) ?? ''] ?? ''}`)
      .join(', ');
    // What the migrations themselves have put there comes back as it was.
    await sql.unsafe(`delete from ${table}`);
    await sql.unsafe(
      `insert into ${table} (${columns.join(', ')}) overriding system value
       select ${values} from (select unnest($1::text[])::${table} as r offset 0) as each`,
      [rows],
    );
  }
  for (const { sequence, value } of sequences)
    await sql.unsafe(`select setval('${sequence.replaceAll("'", "''")}', ${value})`);
  await sql.unsafe('reset session_replication_role');
}
