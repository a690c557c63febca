/**
 * Forward-only migrations: numbered SQL files, each applied once, in order, under one lock for all processes. A file is one
 * transaction; what takes long on a large table is a file outside of one, whose statements may be cut off and repeated.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { digest } from '../secret.ts';
import type { PoolSql, Sql } from './driver/sql.ts';
import { isOutside, type Step, stepsOf } from './migration-statements.ts';

/** An arbitrary key for our advisory lock. */
const LOCK = 7_263_114_905;

/** In the place of a migration's name while a restore fills the database: no program starts on it. */
export const RESTORE_MARK = 'restore_unfinished';

type Migration = { name: string; text: string; digest: string };

/** Those of this program, in their order. */
export function readMigrations(folder: string): Migration[] {
  return readdirSync(folder)
    .filter((file) => /^\d{4}_[a-z0-9_]+\.sql$/.test(file))
    .sort()
    .map((file) => {
      const text = readFileSync(join(folder, file), 'utf8');
      return { name: file.replace(/\.sql$/, ''), text, digest: digest(text).toString('hex') };
    });
}

/** Migrations that the database lacks. Throws when it has unknown or changed ones, or is half restored. */
async function missingMigrations(
  sql: Sql,
  migrations: readonly Migration[],
  restoring = false,
): Promise<Migration[]> {
  const rows = await sql<{ name: string; digest: string }[]>`select name, digest from migrations`;
  const applied = new Map(rows.map((row) => [row.name, row.digest]));
  if (applied.delete(RESTORE_MARK) && !restoring)
    throw new Error(
      'a restore into this database was interrupted: make an empty database, and restore again',
    );
  const unknown = [...applied.keys()].filter((name) => !migrations.some((known) => known.name === name));
  if (unknown.length > 0) {
    throw new Error(
      `the database is newer than this program, which does not know ${unknown.join(', ')}: start the version that used ` +
        'it last, or a later one; to go back to this one, restore the backup from before the upgrade',
    );
  }
  return migrations.filter(({ name, digest: known }) => {
    const before = applied.get(name);
    if (before !== undefined && before !== known) {
      throw new Error(
        `migration ${name} is not the one that this database was made with: install a released version again`,
      );
    }
    return before === undefined;
  });
}

/** Throws, with advice, unless the database has exactly this program's migrations. */
export async function requireCurrent(sql: Sql, folder: string): Promise<void> {
  const [found] = await sql<{ there: boolean }[]>`select to_regclass('migrations') is not null as there`;
  if (!found?.there) throw new Error('this database is new: start the server once first');
  const missing = await missingMigrations(sql, readMigrations(folder));
  if (missing.length === 0) return;
  throw new Error(
    `the database is older than this program, which brings it ${missing.map(({ name }) => name).join(', ')}: ` +
      'start this version of the server, or use the version that runs',
  );
}

/** A statement that waited would have a snapshot, for whose end the holder waits when it builds an index concurrently. */
async function takeLock(connection: Sql): Promise<void> {
  for (;;) {
    const [row] = await connection<{ taken: boolean }[]>`select pg_try_advisory_lock(${LOCK}) as taken`;
    if (row?.taken) return;
    await sleep(50);
  }
}

/** Milliseconds that a statement waits for a lock: all that come after it wait behind it. */
const LOCK_TIMEOUT_MS = 2_000;
const LOCK_PAUSE_MS = 1_000;
/** Ten minutes. */
const MAX_LOCK_TRIES = 200;
const LOCK_NOT_AVAILABLE = '55P03';

/** Runs what is whole or not at all, and lets others pass where it would wait for whoever holds a table: a backup, say. */
async function runShortly(connection: Sql, text: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await connection.unsafe(`set lock_timeout = ${LOCK_TIMEOUT_MS}`);
      await connection.unsafe(text);
      return;
    } catch (error) {
      if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE || tries === MAX_LOCK_TRIES) throw error;
      await connection.unsafe('rollback');
      await sleep(LOCK_PAUSE_MS);
    } finally {
      // To build an index concurrently is to wait for others, who wait for nothing meanwhile.
      await connection.unsafe('set lock_timeout = 0').catch(() => {});
    }
  }
}

/** Runs a step, of which an earlier run may have done a part, or all. */
async function runStep(connection: Sql, step: Step): Promise<void> {
  if (step.kind === 'index') {
    const [found] = await connection<{ valid: boolean }[]>`
      select indisvalid as valid from pg_index where indexrelid = to_regclass(${step.index})`;
    if (found?.valid) return;
    if (found) await connection.unsafe(`drop index concurrently ${step.index}`);
  }
  if (step.kind === 'constraint') {
    const found = await connection`
      select from pg_constraint where conrelid = to_regclass(${step.table}) and conname = ${step.constraint}`;
    if (found.length > 0) return;
  }
  if (step.kind === 'index') {
    await connection.unsafe(step.text);
    return;
  }
  if (step.kind !== 'batches') {
    await runShortly(connection, step.text);
    return;
  }
  for (;;) {
    const [batch] = await connection.unsafe<{ count: number }[]>(
      `with batch as (${step.text} returning 1) select count(*)::int as count from batch`,
    );
    if (!batch?.count) return;
  }
}

/** Applies to an empty database the migrations that another one has, which this program knows all. */
export async function migrateAsFar(other: Sql, sql: PoolSql, folder: string): Promise<void> {
  const [found] = await other<{ there: boolean }[]>`select to_regclass('migrations') is not null as there`;
  if (!found?.there) return;
  const migrations = readMigrations(folder);
  const missing = await missingMigrations(other, migrations);
  await apply(
    sql,
    migrations.filter((migration) => !missing.includes(migration)),
  );
}

/**
 * Applies missing migrations and returns their names; safe under concurrent starts. `alongside` runs under
 * the same lock. Throws when the database has an unknown or changed migration.
 */
export async function migrate(
  sql: PoolSql,
  folder: string,
  alongside?: () => Promise<void>,
): Promise<string[]> {
  return apply(sql, readMigrations(folder), alongside);
}

/** As migrate(), in a database that a restore fills: those that the backup had, or all. */
export async function migrateRestored(
  sql: PoolSql,
  folder: string,
  had?: ReadonlySet<string>,
): Promise<void> {
  const known = readMigrations(folder);
  // One with a lower number may have come later.
  await apply(sql, had ? known.filter(({ name }) => had.has(name)) : known, undefined, true);
}

async function apply(
  sql: PoolSql,
  migrations: readonly Migration[],
  alongside: () => Promise<void> = async () => {},
  restoring = false,
): Promise<string[]> {
  const connection = await sql.reserve();
  try {
    await takeLock(connection);
    await connection`create table if not exists migrations (
      name text primary key, digest text not null, applied_at timestamptz(3) not null default now())`;
    const done: string[] = [];
    for (const migration of await missingMigrations(connection, migrations, restoring)) {
      const record = `insert into migrations (name, digest) values ('${migration.name}', '${migration.digest}')`;
      if (isOutside(migration.text)) {
        for (const step of stepsOf(migration.name, migration.text)) await runStep(connection, step);
        await connection.unsafe(record);
      } else await runShortly(connection, `begin; ${migration.text}\n ${record}; commit;`);
      done.push(migration.name);
    }
    await alongside();
    return done;
  } catch (error) {
    await connection.unsafe('rollback').catch(() => {});
    throw error;
  } finally {
    await connection`select pg_advisory_unlock(${LOCK})`.catch(() => {});
    connection.release();
  }
}
