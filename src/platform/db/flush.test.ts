/** What was committed without waiting for the disk is on the disk when flushed() says so. */
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { type Database, type Db, openDatabase } from './database.ts';
import { DEFERRED_FLUSH, flushed } from './flush.ts';

const app = useApp();
let durable: Database;
const database = (): Db => durable.db;

// The server of the tests does not wait for the disk unless it is told to.
beforeAll(async () => {
  const { sql: driver } = app.app.services.database;
  const [{ name = '' } = {}] = await driver<{ name: string }[]>`select current_database() as name`;
  await driver.unsafe(`alter database ${name} set synchronous_commit = on`);
  durable = openDatabase({ ...inject('postgres'), database: name });
});
afterAll(() => durable.close());

/** Writes a row without waiting; how far the log had come then. */
async function write(db: Db): Promise<string> {
  const { rows } = await sql<{ lsn: string }>`
    with written as (insert into outbox (fact, payload, created_at) values ('flush test', '{}', now()) returning id)
    select ${sql.raw(DEFERRED_FLUSH)}, pg_current_wal_insert_lsn()::text as lsn from written`.execute(db);
  return rows[0]?.lsn ?? '';
}

async function isOnDisk(db: Db, lsn: string): Promise<boolean> {
  const { rows } = await sql<{ there: boolean }>`
    select pg_current_wal_flush_lsn() >= ${lsn}::pg_lsn as there`.execute(db);
  return rows[0]?.there ?? false;
}

test('each of many at once is on the disk when it is told so', async () => {
  const db = database();
  const writers = Array.from({ length: 20 }, async () => {
    const seen: boolean[] = [];
    for (let n = 0; n < 10; n++) {
      const lsn = await write(db);
      await flushed(db);
      seen.push(await isOnDisk(db, lsn));
    }
    return seen;
  });
  const all = (await Promise.all(writers)).flat();
  expect(all).toEqual(Array.from({ length: 200 }, () => true));
});

test('callers at one moment share: one flush is under way, the next is of all others', async () => {
  let flushes = 0;
  const counting = {
    executeQuery: async () => {
      flushes += 1;
      await database().executeQuery(sql`select 1`.compile(database()));
    },
  } as unknown as Db;
  await Promise.all(Array.from({ length: 50 }, () => flushed(counting)));
  expect(flushes).toBe(2);
  await flushed(counting);
  expect(flushes).toBe(3);
});

test('a failure is told to who waited for it, and not to who comes later', async () => {
  let fails = true;
  const failing = {
    executeQuery: async () => {
      if (fails) throw new Error('the disk is gone');
    },
  } as unknown as Db;
  await expect(Promise.all([flushed(failing), flushed(failing)])).rejects.toThrow('the disk is gone');
  fails = false;
  await expect(flushed(failing)).resolves.toBeUndefined();
});

test('the setting ends with its transaction', async () => {
  const db = database();
  await db.connection().execute(async (one) => {
    await write(one);
    const { rows } = await sql<{ synchronous_commit: string }>`show synchronous_commit`.execute(one);
    expect(rows[0]?.synchronous_commit).toBe('on');
  });
});
