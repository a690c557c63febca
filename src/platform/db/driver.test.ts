import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, inject, test } from 'vitest';
import { connect } from './database.ts';
import { mend } from './driver-mends.ts';

test.each(['connection.js', 'index.js', 'query.js', 'queue.js'])(
  '%s as it is released has the faults; another text is refused',
  (file) => {
    const released = readFileSync(fileURLToPath(new URL(file, import.meta.resolve('postgres'))), 'utf8');
    const mended = mend(file, released);
    expect(mended).not.toBe(released);
    expect(() => mend(file, mended)).toThrow('the driver has changed');
  },
);

const closed = { status: 'rejected', reason: { code: 'CONNECTION_CLOSED' } };

test.each([
  { when: 'while a statement runs', running: true },
  { when: 'between two statements', running: false },
])(
  'a connection cut off $when answers its holder with errors only, and the pool goes on',
  async ({ running }) => {
    const target = { ...inject('postgres'), database: 'postgres' };
    const pool = connect(target, { max: 2, statementTimeout: 0, name: 'driver test' });
    const other = connect(target, { max: 1, statementTimeout: 0, name: 'driver test' });
    await other`create table if not exists half (n integer)`;
    for (let round = 0; round < 5; round++) {
      const held = await pool.reserve();
      await held`begin`;
      const [backend] = await held<{ pid: number }[]>`select pg_backend_pid() as pid`;
      const slow = running ? [held`select pg_sleep(5)`] : [];
      const settled = Promise.allSettled(slow);
      await other`select pg_terminate_backend(${backend?.pid ?? 0}, 5000)`;
      for (const { status } of await settled) expect(status).toBe('rejected');
      // Another request makes the pool connect anew in the place of what was cut off.
      await Promise.all([pool`select 1`, pool`select 2`]);
      const writes = Array.from(
        { length: 3 },
        (_, index) => held`insert into half values (${index}::integer)`,
      );
      for (const result of await Promise.allSettled([...writes, held`commit`]))
        expect(result).toMatchObject(closed);
      held.release();
      const numbers = [0, 1, 2, 3, 4, 5, 6, 7];
      const responses = await Promise.all(
        numbers.map((n) => pool<{ n: number }[]>`select ${n}::integer as n`),
      );
      expect(responses.map(([row]) => row?.n)).toEqual(numbers);
    }
    expect(await other`select n from half`).toEqual([]);
    await other`drop table half`;
    await Promise.all([pool.end(), other.end()]);
  },
);

test.each([
  { when: 'at once', pause: 0 },
  { when: 'once the connection is another request’s', pause: 50 },
])(
  'a transaction of the driver itself that goes on $when after it was cut off ends with an error, and harms nobody',
  async ({ pause }) => {
    const target = { ...inject('postgres'), database: 'postgres' };
    const pool = connect(target, { max: 1, statementTimeout: 0, name: 'driver test' });
    const other = connect(target, { max: 1, statementTimeout: 0, name: 'driver test' });
    const statements: PromiseSettledResult<unknown>[] = [];
    const innocent = [];
    const work = pool.begin(async (tx) => {
      const [backend] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
      await other`select pg_terminate_backend(${backend?.pid ?? 0}, 5000)`;
      if (pause > 0) {
        await setTimeout(pause);
        innocent.push(Promise.resolve(pool`select 3 as three`));
      }
      statements.push(...(await Promise.allSettled([tx`select 1 as one`, tx`select 2 as two`])));
      await tx`select 4 as four`;
    });
    // Its last word, or its silence: whichever is read first.
    const ended = { code: expect.stringMatching(/^(57P01|CONNECTION_CLOSED)$/) };
    await expect(work).rejects.toMatchObject(ended);
    innocent.push(pool`select 3 as three`);
    for (const response of await Promise.all(innocent)) expect(response[0]).toEqual({ three: 3 });
    await expect.poll(() => statements.length).toBe(2);
    for (const statement of statements)
      expect(statement).toMatchObject({ status: 'rejected', reason: ended });
    await Promise.all([pool.end(), other.end()]);
  },
);

test('bytes arrive as they were, beside values of other kinds', async () => {
  const sql = connect(
    { ...inject('postgres'), database: 'postgres' },
    { max: 1, statementTimeout: 0, name: 'bytes' },
  );
  const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, place) => place % 256));
  try {
    for (let round = 0; round < 3; round++) {
      const [row] = await sql<{ given: Buffer; length: number; word: string; none: null }[]>`
        select ${bytes}::bytea as given, octet_length(${new Uint8Array(bytes.subarray(3, 9))}::bytea) as length,
          ${'stone'}::text as word, ${null}::bytea as none`;
      expect(row).toEqual({ given: bytes, length: 6, word: 'stone', none: null });
      const [raw] = await sql`select ${bytes}::bytea as given`.values();
      expect(raw).toEqual([bytes]);
      // What is in arrays and records travels as text.
      const [within] = await sql`select ${'a'}::text as a, array[${bytes.subarray(0, 3)}::bytea] as list`;
      expect(within).toEqual({ a: 'a', list: [bytes.subarray(0, 3)] });
    }
    const parts = [bytes.subarray(0, 3), bytes.subarray(3, 60_000), Buffer.alloc(0), bytes.subarray(60_000)];
    const several = Array.from({ length: 4 }, (_, place) => [
      sql`select ${place}::integer as place`,
      sql.unsafe('select $1::bytea as one, $2::text as word, $3::bytea as other', [parts, 'stone', bytes]),
      sql.unsafe('select $1::bytea as few', [parts.slice(0, 1)]),
    ]);
    const given = { one: bytes, word: 'stone', other: bytes };
    for (const [place, rows] of (await Promise.all(several.map((each) => Promise.all(each)))).entries())
      expect(rows.map(([row]) => row)).toEqual([{ place }, given, { few: parts[0] }]);
    const [nothing] =
      await sql`select octet_length(${Buffer.alloc(0)}::bytea) as length, ${7}::integer as seven`;
    expect(nothing).toEqual({ length: 0, seven: 7 });
  } finally {
    await sql.end();
  }
});
