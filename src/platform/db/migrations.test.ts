/** Migrations outside a transaction, killed in the middle of each kind of step on a filled table, and started again. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, inject, test } from 'vitest';
import { connect } from './database.ts';
import { migrate } from './migrations.ts';

const target = { ...inject('postgres'), database: `migrations_${process.pid}` };
const options = { max: 4, statementTimeout: 0, name: 'tests' };
const admin = connect({ ...target, database: 'postgres' }, options);
await admin.unsafe(`create database ${target.database}`);
const sql = connect(target, options);
const folder = mkdtempSync(join(tmpdir(), 'ashlar-migrations-'));
const children: ChildProcess[] = [];

afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await sql.end();
  await admin.unsafe(`drop database ${target.database} with (force)`);
  await admin.end();
  rmSync(folder, { recursive: true });
});

const ROWS = 100_000;
const BATCH = 1000;

writeFileSync(
  join(folder, '0001_large.sql'),
  `create table large (id bigint primary key, size bigint, doubled bigint, times bigint not null default 0);
   insert into large (id, size) select i, i from generate_series(1, ${ROWS}) i;
   -- Writes down what it is called for, so that a test sees where a statement is.
   create sequence judged;
   create function is_fine(bigint) returns boolean language sql as $$ select nextval('judged') > 0 and $1 is not null; $$;`,
);
const steps = `-- outside a transaction
create unique index concurrently large_size on large (size);
alter table large add constraint large_fine check (is_fine(size)) not valid;
alter table large validate constraint large_fine;
update large set doubled = size * 2, times = times + 1
  where id in (select id from large where doubled is null order by id limit ${BATCH});
alter table large alter column doubled set not null;`;

/** A process that migrates. */
function startMigrating(): ChildProcess {
  const script = `
    import { connect } from ${JSON.stringify(join(import.meta.dirname, 'database.ts'))};
    import { migrate } from ${JSON.stringify(join(import.meta.dirname, 'migrations.ts'))};
    const sql = connect(${JSON.stringify(target)}, { max: 1, statementTimeout: 0, name: 'migrating' });
    await migrate(sql, ${JSON.stringify(folder)});
    await sql.end();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' });
  children.push(child);
  return child;
}

/** Ends the process and, as the end of the whole machine would, what the server does for it. */
async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = ${target.database} and query ~ 'large' and pid <> pg_backend_pid() and state = 'active'`;
  await sql`select pg_terminate_backend(pid) from pg_locks
    where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`;
}

const count = async (text: string): Promise<number> => {
  const [row] = await sql.unsafe<{ count: number }[]>(`select (${text})::int as count`);
  return row?.count ?? 0;
};
const INVALID =
  "select count(*) from pg_index where indexrelid = to_regclass('large_size') and not indisvalid";

test('killed in the middle of each step, it goes on, and does nothing twice', async () => {
  await migrate(sql, folder);
  writeFileSync(join(folder, '0002_outside.sql'), steps);

  // An index waits for a transaction that writes: it is there, and invalid.
  const writer = await sql.reserve();
  await writer.unsafe('begin; update large set times = 0 where id = 1');
  const building = startMigrating();
  await expect.poll(() => count(INVALID)).toBe(1);
  await kill(building);
  await writer.unsafe('rollback');
  writer.release();
  expect(await count(INVALID)).toBe(1);

  // A constraint is validated slowly.
  await sql.unsafe(`create or replace function is_fine(bigint) returns boolean language sql as
    $$ select nextval('judged') > 0 and pg_sleep(0.001) is not null; $$`);
  const validating = startMigrating();
  await expect.poll(() => count('select last_value from judged')).toBeGreaterThan(50);
  await kill(validating);
  expect(await count(INVALID)).toBe(0);
  expect(
    await count("select count(*) from pg_constraint where conname = 'large_fine' and not convalidated"),
  ).toBe(1);
  await sql.unsafe(`create or replace function is_fine(bigint) returns boolean language sql as
    $$ select nextval('judged') > 0; $$`);

  // Rows are changed by batches, until one waits for a row that somebody holds.
  const holder = await sql.reserve();
  await holder.unsafe(`begin; select from large where id = ${ROWS / 2} for update`);
  const changing = startMigrating();
  const half = ROWS / 2 - BATCH;
  await expect.poll(() => count('select count(*) from large where doubled is not null')).toBe(half);
  await kill(changing);
  await holder.unsafe('rollback');
  holder.release();
  expect(await count('select count(*) from large where doubled is not null')).toBe(half);

  const last = startMigrating();
  expect(await once(last, 'exit')).toEqual([0, null]);
  expect(await count('select count(*) from large where doubled = size * 2 and times = 1')).toBe(ROWS);
  expect(
    await count("select count(*) from pg_constraint where conname = 'large_fine' and convalidated"),
  ).toBe(1);
  expect(
    await count("select count(*) from pg_index where indexrelid = to_regclass('large_size') and indisvalid"),
  ).toBe(1);
  expect(await migrate(sql, folder)).toEqual([]);
});

test('two at once build an index concurrently, one after the other', async () => {
  writeFileSync(
    join(folder, '0003_index.sql'),
    '-- outside a transaction\ncreate index concurrently large_times on large (times);',
  );
  const done = await Promise.all([migrate(sql, folder), migrate(sql, folder), migrate(sql, folder)]);
  expect(done.flat()).toEqual(['0003_index']);
});

test('a step that fails is told, and done when it can be', async () => {
  await sql.unsafe('insert into large (id, size, doubled) values (0, 0, 2)');
  writeFileSync(
    join(folder, '0004_unique.sql'),
    '-- outside a transaction\ncreate unique index concurrently large_doubled on large (doubled);',
  );
  await expect(migrate(sql, folder)).rejects.toThrow(/could not create unique index/);
  await sql.unsafe('delete from large where id < 1');
  expect(await migrate(sql, folder)).toEqual(['0004_unique']);
});

test('one that waits for a table lets others pass', async () => {
  writeFileSync(join(folder, '0005_column.sql'), 'alter table large add column weight bigint;');
  const holder = await sql.reserve();
  await holder.unsafe('begin; select from large limit 1');
  const migrating = migrate(sql, folder);
  const waiting = async () => {
    const [row] = await admin.unsafe<{ count: number }[]>(
      `select count(*)::int as count from pg_locks l join pg_database d on d.oid = l.database
       where d.datname = '${target.database}' and l.mode = 'AccessExclusiveLock' and not l.granted`,
    );
    return row?.count;
  };
  await expect.poll(waiting).toBe(1);
  // It would wait until the holder ends, which is after it.
  await expect(sql`select from large limit 1`).resolves.toHaveLength(1);
  await holder.unsafe('commit');
  holder.release();
  await expect(migrating).resolves.toEqual(['0005_column']);
});
