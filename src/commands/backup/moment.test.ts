/** Whether a table has the rows of an earlier moment, whatever was done to it since. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, inject, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { connectToCopy } from '../../platform/db/database.ts';
import type { CopyConnection } from '../../platform/db/driver/copy.ts';
import { startEmbedded } from '../../platform/db/embedded/embedded.ts';
import { ephemeralSettings, makeEphemeralFolder } from '../../platform/db/embedded/ephemeral.ts';
import { describeMoment, isSameDatabase, isUnchanged, type RowsMoment } from './moment-queries.ts';

const t = useApp({ still: true });
const of = { version: '1', migrations: [], tables: [] };
let watching: CopyConnection;
let writing: CopyConnection;
let other: CopyConnection;

beforeAll(async () => {
  const [database] = await t.app.services.database.sql<{ name: string }[]>`select current_database() as name`;
  const target = { ...inject('postgres'), database: database?.name ?? '' };
  const connect = () => connectToCopy(target, 'test');
  [watching, writing, other] = await Promise.all([connect(), connect(), connect()]);
  return async () => {
    for (const each of [watching, writing, other]) await each.end();
  };
});

/** As a backup looks: in a snapshot. */
async function inSnapshot<Found>(look: () => Promise<Found>): Promise<Found> {
  await watching.ask('begin isolation level repeatable read, read only');
  try {
    return await look();
  } finally {
    await watching.ask('commit');
  }
}

/** A moment at which all that was written has ended for PostgreSQL, though other databases are written to at the same time. */
async function momentAndCount(): Promise<{ moment: RowsMoment; count: number }> {
  const [own] = await writing.ask<{ id: string }>('select pg_current_xact_id()::text as id');
  for (;;) {
    const found = await inSnapshot(async () => {
      const [row] = await watching.ask<{ count: number }>('select count(*)::integer as count from things');
      return { moment: await describeMoment(watching, of), count: row?.count ?? 0 };
    });
    const { moment, count } = found;
    if (!moment) throw new Error('the server does not say which database it is');
    if (BigInt(moment.before) >= BigInt(own?.id ?? 0)) return { moment, count };
    await sleep(10);
  }
}

type Case = { name: string; same: boolean; before?: string; during?: string; after?: string };

const cases: Case[] = [
  { name: 'nothing', same: true },
  { name: 'a new row', same: false, after: "insert into things values (4, 'd')" },
  { name: 'a changed row', same: false, after: "update things set text = 'z' where id = 1" },
  {
    name: 'a row that was written as it was',
    same: false,
    after: 'update things set text = text where id = 1',
  },
  { name: 'a removed row', same: false, after: 'delete from things where id = 1' },
  {
    name: 'a row in the place of another',
    same: false,
    after: "delete from things where id = 1; insert into things values (1, 'a')",
  },
  { name: 'all rows removed', same: false, after: 'truncate things' },
  { name: 'rows that were locked', same: true, after: 'begin; select 1 from things for update; commit' },
  { name: 'a write that was rolled back', same: true, after: 'begin; delete from things; rollback' },
  { name: 'a vacuum that freezes', same: true, after: 'vacuum (freeze, full) things' },
  { name: 'a write before it', same: true, before: "insert into things values (4, 'd')" },
  { name: 'no rows then', same: true, before: 'delete from things' },
  {
    name: 'a write that went on at the moment',
    same: false,
    during: "insert into things values (4, 'd')",
  },
  {
    name: 'a write that went on at the moment, under a savepoint, and kept the number of rows',
    same: false,
    during:
      "savepoint a; delete from things where id = 1; insert into things values (1, 'x'); release savepoint a",
  },
];

test.each(cases)('after $name: $same', async ({ same, before, during, after }) => {
  await writing.ask(
    "drop table if exists things; create table things (id integer, text text); insert into things values (1, 'a'), (2, 'b'), (3, 'c')",
  );
  if (before) await writing.ask(before);
  const { moment, count } = await (during ? whileWritten(during) : momentAndCount());
  for (const statement of after?.startsWith('begin') ? [after] : (after?.split('; ') ?? []))
    await writing.ask(statement);
  expect(await inSnapshot(() => isUnchanged(watching, 'things', moment, count))).toBe(same);
  // What came later is the same from then on.
  const later = await momentAndCount();
  expect(isSameDatabase(moment, later.moment)).toBe(true);
  expect(await inSnapshot(() => isUnchanged(watching, 'things', later.moment, later.count))).toBe(true);
});

/** The moment is within a transaction, which ends afterwards. */
async function whileWritten(statement: string): Promise<{ moment: RowsMoment; count: number }> {
  await momentAndCount();
  const [own] = await other.ask<{ id: string }>('begin; select pg_current_xact_id()::text as id');
  await other.ask(statement);
  const found = await inSnapshot(async () => ({ moment: await describeMoment(watching, of), count: 3 }));
  await other.ask('commit');
  const { moment, count } = found;
  expect(BigInt(moment?.before ?? 0)).toBeLessThanOrEqual(BigInt(own?.id ?? 0));
  if (!moment) throw new Error('the server does not say which database it is');
  return { moment, count };
}

test('a data folder that was put back to an earlier moment has other rows of the same transactions', async () => {
  const folder = makeEphemeralFolder('ashlar-moment-');
  const [data, kept] = [join(folder, 'data'), join(folder, 'kept')];
  mkdirSync(data, { mode: 0o711 });
  // With the owners of the files, one of which may be the server's own.
  const copy = (from: string, to: string) =>
    expect(spawnSync('cp', ['-a', from, to], { env: { PATH: process.env.PATH } }).status).toBe(0);
  const run = async <Found>(work: (connection: CopyConnection) => Promise<Found>): Promise<Found> => {
    const server = await startEmbedded(data, { settings: ephemeralSettings });
    const connection = await connectToCopy(server.connection, 'test');
    try {
      return await work(connection);
    } finally {
      await connection.end();
      await server.stop();
    }
  };
  const describe = async (connection: CopyConnection): Promise<RowsMoment> => {
    const found = await describeMoment(connection, of);
    if (!found) throw new Error('the server does not say which database it is');
    return found;
  };
  try {
    await run((connection) => connection.ask('create table things (text text)'));
    copy(data, kept);
    const earlier = await run(async (connection) => {
      await connection.ask("insert into things values ('one')");
      return describe(connection);
    });
    rmSync(data, { recursive: true });
    copy(kept, data);
    await run(async (connection) => {
      await connection.ask("insert into things values ('another')");
      for (let other = 0; other < 10; other += 1) await connection.ask('select pg_current_xact_id()');
      const later = await describe(connection);
      expect(BigInt(later.before)).toBeGreaterThan(BigInt(earlier.before));
      expect(await isUnchanged(connection, 'things', earlier, 1)).toBe(true);
      expect(isSameDatabase(earlier, later)).toBe(false);
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

const moment: RowsMoment = { database: '7 1 5', schema: 'a', before: '4294967290' };
test.each<[string, RowsMoment | null, RowsMoment | null, boolean]>([
  ['the same moment', moment, moment, true],
  ['a later one, when the short numbers have begun anew', moment, { ...moment, before: '4294967300' }, true],
  ['an earlier one', moment, { ...moment, before: '4294967289' }, false],
  ['a much later one', moment, { ...moment, before: '5368709114' }, false],
  ['another time line', moment, { ...moment, database: '7 2 5' }, false],
  ['another program', moment, { ...moment, schema: 'b' }, false],
  ['an index without it', null, moment, false],
  ['a server that does not say', moment, null, false],
])('%s', (_, earlier, later, same) => {
  expect(isSameDatabase(earlier, later)).toBe(same);
});
