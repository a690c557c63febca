/** A connection that copies is told by nobody else how values look, and ends when the server does. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { connect, connectToCopy } from '../database.ts';

const server = inject('postgres');
const database = `copies_${process.pid}`;
const admin = connect({ ...server, database: 'postgres' }, { max: 1, statementTimeout: 0, name: 'tests' });
beforeAll(async () => {
  await admin.unsafe(`create database ${database}`);
});
afterAll(async () => {
  await admin.unsafe(`drop database if exists ${database} with (force)`);
  await admin.end();
});

test('what the database is set to changes neither the texts of values nor how long a copy may take', async () => {
  for (const setting of [
    "datestyle to 'SQL, DMY'",
    "intervalstyle to 'sql_standard'",
    "bytea_output to 'escape'",
    "timezone to 'Asia/Tokyo'",
    'extra_float_digits to 0',
    'statement_timeout to 1000',
    'idle_in_transaction_session_timeout to 1000',
  ])
    await admin.unsafe(`alter database ${database} set ${setting}`);
  const connection = await connectToCopy({ ...server, database }, 'test');
  const pieces: Buffer[] = [];
  const values =
    "timestamptz '2026-02-01 00:00Z', date '2026-02-01', interval '1 day 2 hours', bytea '\\x00ff', float8 '0.1' + float8 '0.2'";
  for await (const piece of connection.copyOut(`copy (select ${values}) to stdout`)) pieces.push(piece);
  expect(Buffer.concat(pieces).toString()).toBe(
    '2026-02-01 00:00:00+00\t2026-02-01\t1 day 02:00:00\t\\\\x00ff\t0.30000000000000004\n',
  );
  const [limits] = await connection.ask<{ statement: string; idle: string }>(
    "select current_setting('statement_timeout') as statement, current_setting('idle_in_transaction_session_timeout') as idle",
  );
  expect(limits).toEqual({ statement: '0', idle: '0' });
  await connection.end();
});

test('one that the server ended is over, and so is its end', async () => {
  const connection = await connectToCopy({ ...server, database }, 'test');
  const [own] = await connection.ask<{ pid: number }>('select pg_backend_pid() as pid');
  await admin.unsafe(`select pg_terminate_backend(${own?.pid})`);
  await expect.poll(() => connection.ask('select 1').then(String, String)).toMatch(/terminat/);
  // The socket closes soon after the last word.
  await sleep(200);
  await connection.end();
});

test('the number of rows comes with the end, whatever their size', async () => {
  const connection = await connectToCopy({ ...server, database }, 'test');
  for (const count of [0, 1, 100_000]) {
    const rows = connection.copyOut(
      `copy (select repeat('x', 20) from generate_series(1, ${count})) to stdout`,
    );
    let next = await rows.next();
    while (!next.done) next = await rows.next();
    expect(next.value).toBe(count);
  }
  await connection.end();
});
