/** Transactions within transactions, and statements that are run as one. */
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { conflict } from '../failure.ts';
import { inTransaction, sendAhead } from './database.ts';
import { runAsOne } from './run-as-one.ts';

const ashlar = useApp();
const gate = (name: string) => ({ name, value: 'true', updated_at: new Date() });

async function names(): Promise<string[]> {
  const { db } = ashlar.app.services.database;
  const rows = await db.selectFrom('feature_gates').select('name').orderBy('name').execute();
  await db.deleteFrom('feature_gates').execute();
  return rows.map(({ name }) => name);
}

test.each([
  ['a refusal', () => Promise.reject(conflict('no'))],
  [
    'a failed statement',
    (db: Parameters<Parameters<typeof inTransaction>[1]>[0]) => sql`select 1 / 0`.execute(db),
  ],
])('a part that ends with %s is undone alone', async (_, fail) => {
  const { db } = ashlar.app.services.database;
  await inTransaction(db, async (tx) => {
    await tx.insertInto('feature_gates').values(gate('before')).execute();
    const part = inTransaction(tx, async (within) => {
      await within.insertInto('feature_gates').values(gate('part')).execute();
      await inTransaction(within, (deeper) =>
        deeper.insertInto('feature_gates').values(gate('deeper')).execute(),
      );
      await fail(within);
    });
    await expect(part).rejects.toThrow();
    await tx.insertInto('feature_gates').values(gate('after')).execute();
  });
  expect(await names()).toEqual(['after', 'before']);
});

test('a part fails with the statement that nobody waited for, and the transaction goes on', async () => {
  const { db } = ashlar.app.services.database;
  await inTransaction(db, async (tx) => {
    const part = inTransaction(tx, (within) => sendAhead(within, sql`select 1 / 0`.compile(within)));
    await expect(part).rejects.toMatchObject({ code: '22012' });
    const other = inTransaction(tx, (within) => sendAhead(within, sql`select 'x'::integer`.compile(within)));
    await expect(other).rejects.toMatchObject({ code: '22P02' });
    await tx.insertInto('feature_gates').values(gate('after')).execute();
  });
  expect(await names()).toEqual(['after']);
});

test('a transaction that fails takes its parts along', async () => {
  const { db } = ashlar.app.services.database;
  const whole = inTransaction(db, async (tx) => {
    await inTransaction(tx, (within) => within.insertInto('feature_gates').values(gate('part')).execute());
    throw conflict('no');
  });
  await expect(whole).rejects.toThrow('no');
  expect(await names()).toEqual([]);
});

test('statements run as one are one statement, and the last one returns its rows', async () => {
  const { db, sql: pool } = ashlar.app.services.database;
  const texts: string[] = [];
  pool.watch((text) => texts.push(text));
  const insert = (name: string) => db.insertInto('feature_gates').values(gate(name));
  const rows = await runAsOne(
    db,
    { statements: [insert('first'), undefined, insert('second')] },
    insert('third').returning('name'),
  );
  pool.watch(() => undefined);
  expect(rows).toEqual([{ name: 'third' }]);
  expect(texts.filter((text) => text.includes('feature_gates" ('))).toHaveLength(1);
  expect(await names()).toEqual(['first', 'second', 'third']);
});
