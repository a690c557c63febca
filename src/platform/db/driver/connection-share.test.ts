/** One caller's slow statements leave connections to others, and none of its own transactions waits for itself. */
import { sql as raw } from 'kysely';
import { afterAll, expect, inject, test } from 'vitest';
import { runForCaller } from '../../fair-share.ts';
import { connect, inTransaction, openDatabase } from '../database.ts';

const target = { ...inject('postgres'), database: 'postgres' };
const database = openDatabase(target, { requests: 6, background: 1 });
const { db } = database;
const blocker = connect(target, { max: 1, statementTimeout: 0, name: 'tests' });
afterAll(async () => {
  await database.close();
  await blocker.end();
});

const LOCK = process.pid;
const blocked = () =>
  raw`select pg_advisory_lock_shared(${LOCK}), pg_advisory_unlock_shared(${LOCK})`.execute(db);
const one = async () => (await raw<{ one: number }>`select 1 as one`.execute(db)).rows[0]?.one;

test('another caller is answered while ten statements of one wait', async () => {
  await blocker`select pg_advisory_lock(${LOCK})`;
  const greedy = Array.from({ length: 10 }, () => runForCaller({ name: 'greedy' }, blocked));
  expect(await Promise.all([1, 2, 3].map(() => runForCaller({ name: 'modest' }, one)))).toEqual([1, 1, 1]);
  await blocker`select pg_advisory_unlock(${LOCK})`;
  expect(await Promise.all(greedy)).toHaveLength(10);
});

test('a transaction may ask beside itself, however many of one caller do', async () => {
  const both = () => inTransaction(db, async (tx) => [await raw`select 1`.execute(tx), await one()].length);
  const greedy = Array.from({ length: 2 }, () => runForCaller({ name: 'greedy' }, both));
  expect(await Promise.all(greedy)).toEqual([2, 2]);
  expect(await runForCaller({ name: 'greedy' }, one)).toBe(1);
});
