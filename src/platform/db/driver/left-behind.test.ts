/** What statements and transactions leave in memory: nothing that only a collection of the whole heap would free. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { sql as raw } from 'kysely';
import { afterAll, expect, inject, test } from 'vitest';
import { openDatabase } from '../database.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void;

const database = openDatabase(
  { ...inject('postgres'), database: 'postgres' },
  { requests: 1, background: 1 },
);
afterAll(() => database.close());

const TIMES = 3_000;
/** Bytes for each. */
const MOST = 300;

const ways: [string, () => Promise<unknown>][] = [
  [
    'a statement without Kysely',
    () => database.sql.unsafe('select $1::text as text', ['a'], { prepare: true }),
  ],
  ['a statement', () => raw`select 1 as one`.execute(database.db)],
  ['a transaction', () => database.db.transaction().execute((tx) => raw`select 1 as one`.execute(tx))],
  ['a transaction without Kysely', () => database.sql.begin((tx) => tx`select 1 as one`)],
];

test.each(ways)('%s', async (_, ask) => {
  for (let requested = 0; requested < 1_000; requested++) await ask();
  collect();
  for (let requested = 0; requested < TIMES; requested++) await ask();
  for (let times = 0; times < 3; times++) collect({ type: 'minor' });
  const used = process.memoryUsage().heapUsed;
  collect();
  expect((used - process.memoryUsage().heapUsed) / TIMES).toBeLessThan(MOST);
});
