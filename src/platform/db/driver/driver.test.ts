/** What our pools ask of pg, and what becomes of it when a connection goes, a type is another or a statement is slow. */
import { setTimeout } from 'node:timers/promises';
import { CompiledQuery, sql as raw } from 'kysely';
import { afterAll, expect, inject, test } from 'vitest';
import { connect, inTransaction, openDatabase, sendAhead } from '../database.ts';
import { Pool } from './pool.ts';

const target = { ...inject('postgres'), database: 'postgres' };
const sql = connect(target, { max: 1, statementTimeout: 1_000, name: 'driver test' });
afterAll(() => sql.end());

const closed = { status: 'rejected', reason: { code: 'CONNECTION_CLOSED' } };

test.each([
  { when: 'while a statement runs', running: true },
  { when: 'between two statements', running: false },
])(
  'a connection cut off $when answers its holder with errors only, and the pool goes on',
  async ({ running }) => {
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
  'a transaction without Kysely that goes on $when after it was cut off ends with an error, and harms nobody',
  async ({ pause }) => {
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
    const ended = { code: expect.stringMatching(/^(57P01|CONNECTION_CLOSED|EPIPE|ECONNRESET)$/) };
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
  const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, place) => place % 256));
  for (let round = 0; round < 3; round++) {
    const [row] = await sql<{ given: Buffer; length: number; word: string; none: null }[]>`
        select ${bytes}::bytea as given, octet_length(${new Uint8Array(bytes.subarray(3, 9))}::bytea) as length,
          ${'stone'}::text as word, ${null}::bytea as none`;
    expect(row).toEqual({ given: bytes, length: 6, word: 'stone', none: null });
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
});

test('values of each type come back as they were given', async () => {
  const time = new Date('0033-04-03T12:00:00.123Z');
  const values = {
    small: -32_768,
    whole: 2_147_483_647,
    large: Number.MAX_SAFE_INTEGER,
    least: Number.MIN_SAFE_INTEGER,
    broken: -0.5,
    exact: 12_345.678,
    yes: true,
    no: false,
    text: `"quoted", \\ and 'such' {} NULL ü 👩‍🚀`,
    nothing: null,
    time,
    day: '2026-02-28',
    json: { a: [1, 'two', null, { three: true }] },
    list: [1, 'two'],
    word: 'a text as JSON',
    texts: ['plain', '', 'NULL', 'a "quoted" \\ one', '{a,b}', 'ü', null],
    numbers: [1, -2, null, 9_007_199_254_740_991],
    none: [],
    deep: [
      ['a', 'b'],
      ['c', 'd'],
    ],
    times: [time],
    flags: [true, false, null],
    documents: [{ a: 1 }, [2], 'three'],
  };
  const v = values;
  for (let round = 0; round < 2; round++) {
    const [row] = await sql`select ${v.small}::smallint as small, ${v.whole}::integer as whole,
      ${v.large}::bigint as large, ${v.least}::bigint as least, ${v.broken}::float8 as broken,
      ${v.exact}::numeric as exact, ${v.yes} as yes, ${v.no}::boolean as no, ${v.text}::text as text,
      ${v.nothing}::text as nothing, ${v.time} as time, ${v.day}::date as day, ${v.json}::jsonb as json,
      ${v.list}::json as list, ${v.word}::jsonb as word, ${v.texts}::text[] as texts,
      ${v.numbers}::bigint[] as numbers, ${v.none}::integer[] as none, ${v.deep}::text[] as deep,
      ${v.times}::timestamptz[] as times, ${v.flags}::boolean[] as flags, ${v.documents}::jsonb[] as documents`;
    expect(row).toEqual(values);
  }
  expect(await sql`select array[]::text[] || ${sql.json({ of: 'a type' })}::text as made`).toEqual([
    { made: ['{"of": "a type"}'] },
  ]);
  expect(await sql`select '[2:3]={1,2}'::integer[] as shifted`).toEqual([{ shifted: [1, 2] }]);
});

test('instants of all ages come back to the millisecond, and less is left out', async () => {
  const texts = ['0033-04-03T12:00:00.123Z', '1713-12-31T23:59:59.999Z', '1999-12-31T23:59:59.999Z'];
  texts.push('2000-01-01T00:00:00.000Z', '2026-11-22T01:02:03.007Z', '2286-01-01T00:00:00.001Z');
  texts.push('9999-12-31T23:59:59.999Z');
  const rows = await sql<{ time: Date }[]>`select unnest(${texts}::timestamptz[]) as time`;
  expect(rows.map(({ time }) => time.toISOString())).toEqual(texts);
  const [row] = await sql`
    select '1999-12-31 23:59:59.999999Z'::timestamptz as before, '2026-01-01 00:00:00.123999Z'::timestamptz as after,
      'infinity'::timestamptz as never, null::timestamptz as none`;
  expect(row?.before.toISOString()).toBe('1999-12-31T23:59:59.999Z');
  expect(row?.after.toISOString()).toBe('2026-01-01T00:00:00.123Z');
  expect(row?.never.getTime()).toBeNaN();
  expect(row?.none).toBeNull();
});

test('what cannot be read or written is refused, and the connection goes on', async () => {
  await expect(sql`select ${2 ** 53}::bigint as n`).rejects.toThrow('integer out of range');
  await expect(sql`select '-9007199254740993'::bigint as n, 1 as m`).rejects.toThrow('integer out of range');
  await expect(sql`select ${undefined as unknown as null}::text`).rejects.toThrow('undefined');
  await expect(sql`select ${new Date(Number.NaN)} as n`).rejects.toThrow('Invalid time value');
  await expect(sql`select ${['a', undefined]}::text[] as n`).rejects.toThrow('undefined');
  for (const count of [32_768, 65_535, 70_000]) {
    const many = Array.from({ length: count }, (_, index) => `($${index + 1}::integer)`);
    await expect(
      sql.unsafe(
        `values ${many.join()}`,
        many.map((_, index) => index),
      ),
    ).rejects.toThrow('values are more than a statement takes');
  }
  await expect(sql`select from nowhere where id = ${1}`).rejects.toMatchObject({ code: '42P01' });
  await expect(sql.unsafe('copy pg_class from stdin')).rejects.toMatchObject({ code: '57014' });
  expect(await sql`select ${1}::integer as one`).toEqual([{ one: 1 }]);
});

test('names, parts and texts become what they say', async () => {
  const part = (n: number) => sql`n > ${n}`;
  const rows = await sql`
    select ${sql('odd "name"')} from (values (1), (2), (3)) as t(n), (select 'x' as "odd ""name""") u
    where ${part(1)} and ${part(2)} and ${sql.unsafe('n < 10')}`;
  expect(rows).toEqual([{ 'odd "name"': 'x' }]);
  expect(await sql.unsafe('select 1 as one; select 2 as two; set work_mem = default')).toEqual([{ two: 2 }]);
  expect(await sql.unsafe('')).toEqual([]);
});

test('a row larger than what arrives at once is read as a whole, between small ones', async () => {
  const sizes = [1, 3_000_000, 2, 70_000, 65_536, 3];
  const rows = await Promise.all(
    sizes.map((size) => sql`select repeat('é', ${size}::integer) as text, ${size}::integer as size`),
  );
  expect(rows.map(([row]) => [row?.text.length, row?.size])).toEqual(sizes.map((size) => [size, size]));
});

test('what is asked first is done first, also while types are asked for', async () => {
  const held = await sql.reserve();
  await held`create temporary table sequence (place integer generated always as identity, n integer)`;
  await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      n % 3 === 0
        ? held.unsafe(`insert into sequence (n) values (${n})`)
        : held.unsafe(`insert into sequence (n) values ($1 + ${n % 7})`, [n - (n % 7)]),
    ),
  );
  const rows = await held<{ n: number }[]>`select n from sequence order by place`;
  expect(rows.map(({ n }) => n)).toEqual(Array.from({ length: 40 }, (_, n) => n));
  await held`drop table sequence`;
  held.release();
});

test('a statement that takes too long is cut off, and those behind it are answered', async () => {
  const slow = sql`select pg_sleep(20)`.then(
    () => 'done',
    (error: unknown) => (error as { code: string }).code,
  );
  const behind = [1, 2, 3].map((n) => sql`select ${n}::integer as n`);
  expect(await slow).toBe('57014');
  expect((await Promise.all(behind)).flat()).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
});

test.each(['true', 'false'])('with prepare=%s, a table that changes is read as it is', async (prepare) => {
  const { host, user, password } = target;
  const url = `postgres://${user}:${encodeURIComponent(password)}@/postgres?host=${encodeURIComponent(host)}&prepare=${prepare}`;
  const pool = connect(url, { max: 1, statementTimeout: 0, name: 'driver test' });
  await pool.unsafe('drop table if exists changing; create table changing (id bigint, body bytea)');
  const body = Buffer.from([0, 255, 128]);
  await pool`insert into changing values (${1}, ${body})`;
  const read = () => pool`select * from changing where id = ${1}`;
  expect(await read()).toEqual([{ id: 1, body }]);
  await pool`alter table changing add column more text[], alter column id type integer`;
  const changed = [{ id: 1, body, more: null }];
  expect(await Promise.all([read(), read()])).toEqual([changed, changed]);
  await pool`drop table changing`;
  const [known] = await pool<{ count: number }[]>`select count(*) as count from pg_prepared_statements`;
  if (prepare === 'false') expect(known?.count).toBe(0);
  else expect(known?.count).toBeGreaterThan(2);
  await pool.end();
});

test('a statement that a failed transaction kept the server from learning is told to it again', async () => {
  const pool = connect(target, { max: 1, statementTimeout: 0, name: 'driver test' });
  const ask = (sql: Pick<typeof pool, 'unsafe'>, n: number) =>
    sql.unsafe<{ n: number }[]>(`select $1 + ${n} as n`, [1]);
  // So many that the server has forgotten the first.
  for (let n = 0; n < 100; n++) await ask(pool, n);
  const failing = pool.begin(async (tx) => {
    const [failed] = await Promise.allSettled([tx.unsafe('select 1 / $1::integer', [0]), ask(tx, 0)]);
    if (failed.status === 'rejected') throw failed.reason;
  });
  await expect(failing).rejects.toMatchObject({ code: '22012' });
  expect(await pool.begin((tx) => ask(tx, 0))).toEqual([{ n: 1 }]);
  // One that it has learned, but that failed, is told again too.
  const half = (of: number) => pool.unsafe('select 2 / $1::integer as half', [of]);
  for (let n = 0; n < 100; n++) await ask(pool, n);
  await expect(half(0)).rejects.toMatchObject({ code: '22012' });
  expect(await pool.begin((tx) => tx.unsafe('select 2 / $1::integer as half', [2]))).toEqual([{ half: 1 }]);
  await pool.end();
});

test('a server is told so many statements by name, those used last, and each can be asked again', async () => {
  const pool = connect(target, { max: 1, statementTimeout: 0, name: 'driver test' });
  const ask = async (n: number) => {
    const [row] = await pool.unsafe<{ n: number }[]>(`select $1 + ${n} as n`, [n]);
    expect(row?.n).toBe(2 * n);
  };
  for (let n = 0; n < 1_200; n++) {
    await ask(n);
    if (n % 40 === 0) await ask(0);
  }
  const [oldest] = await pool<{ statement: string }[]>`
    select statement from pg_prepared_statements order by prepare_time limit 1`;
  expect(oldest?.statement).toBe('select $1 + 0 as n');
  for (const n of [1_199, 0, 600, 1_150, 1_199, 0]) await ask(n);
  const [known] = await pool<{ count: number }[]>`select count(*) as count from pg_prepared_statements`;
  expect(known?.count).toBeGreaterThan(50);
  expect(known?.count).toBeLessThan(70);
  await pool.end();
});

test('of long statements a server knows fewer by name', async () => {
  const pool = connect(target, { max: 1, statementTimeout: 0, name: 'driver test' });
  const ask = (n: number) => pool.unsafe(`select ${n} as n --${'x'.repeat(50_000)}`, [], { prepare: true });
  for (let n = 0; n < 10; n++) expect(await ask(n)).toEqual([{ n }]);
  expect(await ask(0)).toEqual([{ n: 0 }]);
  const known = await pool<{ n: string }[]>`
    select substring(statement from 'select ([0-9]+) as n --x') as n from pg_prepared_statements
    where length(statement) > 50000 order by prepare_time`;
  expect(known.map(({ n }) => n)).toEqual(['9', '0']);
  await pool.end();
});

test('statements have a connection to themselves while there is one, and wait behind others when there is none', async () => {
  const pool = connect(target, { max: 2, statementTimeout: 0, name: 'driver test' });
  const pids = async (count: number) => {
    const requested = Array.from(
      { length: count },
      () => pool<{ pid: number }[]>`select pg_backend_pid() as pid, pg_sleep(0.05)::text`,
    );
    return new Set((await Promise.all(requested)).flat().map(({ pid }) => pid));
  };
  expect((await pids(20)).size).toBe(2);
  const [one, two] = [await pool.reserve(), await pool.reserve()];
  const third = pool.reserve();
  const last = pids(1);
  expect(await Promise.race([third, last, setTimeout(50, 'waiting')])).toBe('waiting');
  one.release();
  one.release();
  await expect(one`select 1`).rejects.toThrow('after it was given back');
  const held = await third;
  expect(await held`select 3 as three`).toEqual([{ three: 3 }]);
  expect(await Promise.race([last, setTimeout(50, 'waiting')])).toBe('waiting');
  two.release();
  expect((await last).size).toBe(1);
  held.release();
  await pool.end();
});

test('who waits for a connection while none can be made learns why', async () => {
  const pool = connect({ ...target, host: '/nowhere' }, { max: 2, statementTimeout: 0, name: 'driver test' });
  const requested = await Promise.allSettled([
    ...Array.from({ length: 5 }, () => pool`select 1`),
    ...Array.from({ length: 5 }, () => pool.reserve()),
  ]);
  for (const response of requested)
    expect(response).toMatchObject({ status: 'rejected', reason: { code: 'ENOENT' } });
  const wrong = connect(
    { ...target, password: 'wrong' },
    { max: 1, statementTimeout: 0, name: 'driver test' },
  );
  await expect(wrong`select 1`).rejects.toMatchObject({ code: '28P01' });
  await Promise.all([pool.end(), wrong.end()]);
});

test('closing waits for what was asked, so long, and refuses what comes then', async () => {
  const open = () => connect(target, { max: 1, statementTimeout: 0, name: 'driver test' });
  const patient = open();
  const requested = [1, 2].map((n) =>
    patient`select ${n}::integer as n, pg_sleep(0.1)::text`.then(([row]) => row?.n),
  );
  const ended = patient.end();
  expect(await Promise.all(requested)).toEqual([1, 2]);
  await ended;
  await expect(patient`select 1`).rejects.toMatchObject({ code: 'CONNECTION_ENDED' });
  await expect(patient.reserve()).rejects.toMatchObject({ code: 'CONNECTION_ENDED' });
  const impatient = open();
  const statements = Promise.allSettled([impatient`select pg_sleep(60)`, impatient`select 1`]);
  await setTimeout(100);
  const held = Promise.allSettled([impatient.reserve()]);
  const begin = performance.now();
  await impatient.end({ timeout: 0.2 });
  const reason = { code: expect.stringMatching(/^CONNECTION_/) };
  for (const response of [...(await statements), ...(await held)])
    expect(response).toMatchObject({ status: 'rejected', reason });
  expect(performance.now() - begin).toBeLessThan(5_000);
});

test('a list of any length is found among', async () => {
  const database = openDatabase(target, { requests: 1, background: 1 });
  const { db } = database;
  const numbers = Array.from({ length: 70_000 }, (_, index) => index);
  const oids = db.selectFrom(
    raw<{ id: number; name: string }>`(values (1, 'a1'), (70001, 'b'))`.as<'x'>(raw`x (id, name)`),
  );
  const found = (list: readonly number[]) => oids.select('id').where('id', 'in', list).execute();
  expect(await found(numbers)).toEqual([{ id: 1 }]);
  expect(await found(numbers.slice(0, 3))).toEqual([{ id: 1 }]);
  expect(await oids.select('id').where('id', 'not in', numbers).execute()).toEqual([{ id: 70_001 }]);
  const names = numbers.map((number) => `a${number}`);
  expect(await oids.select('id').where('name', 'in', names).execute()).toEqual([{ id: 1 }]);
  await database.close();
});

test('a transaction in which a statement failed is not taken for done, whoever caught the error', async () => {
  const database = openDatabase(target, { requests: 1, background: 1 });
  const { db } = database;
  await raw`create table if not exists undone (n integer)`.execute(db);
  const work = inTransaction(db, async (tx) => {
    await raw`insert into undone values (1)`.execute(tx);
    await raw`select 1 / 0`.execute(tx).catch(() => undefined);
  });
  await expect(work).rejects.toThrow();
  const alike = database.sql.begin(async (tx) => {
    await tx`insert into undone values (2)`;
    await tx`select 1 / 0`.catch(() => undefined);
  });
  await expect(alike).rejects.toMatchObject({ code: '22012' });
  expect((await raw`select * from undone`.execute(db)).rows).toEqual([]);
  await raw`drop table undone`.execute(db);
  await database.close();
});

test('nothing is done outside of a transaction whose BEGIN fails, also what was asked with it', async () => {
  const pool = new Pool({ config: target, settings: {}, max: 1, named: true });
  await pool.run('create table if not exists outside (n integer)', [], true);
  type Asked = Parameters<Pool['run']>;
  const insert: Asked = ['insert into outside values ($1)', [1], true];
  const firsts: Asked[] = [
    insert,
    ['insert into outside values (2)', [], false],
    ['select nowhere', [], true],
  ];
  for (const first of firsts) {
    const reserved = await pool.reserve();
    reserved.begin('begin nonsense');
    const statements = [first, insert, insert].map((each) => reserved.run(...each));
    for (const { status } of await Promise.allSettled(statements)) expect(status).toBe('rejected');
    await expect(reserved.run(...insert)).rejects.toThrow();
    reserved.release();
  }
  expect((await pool.run('select n from outside', [], true)).rows).toEqual([]);
  await pool.run('drop table outside', [], true);
  await pool.end();
});

test('what is asked at once in a new transaction is done in it, in this order', async () => {
  const pool = new Pool({ config: target, settings: {}, max: 1, named: true });
  const texts = [
    'create temporary table within (place integer generated always as identity, n integer)',
    'insert into within (n) values (1), (2)',
    'insert into within (n) values (3); insert into within (n) values (4)',
  ];
  for (const [first = '', ...others] of [texts, ['select 0; select 0', ...texts]]) {
    const reserved = await pool.reserve();
    reserved.begin('begin isolation level repeatable read');
    await Promise.all([first, ...others].map((text) => reserved.run(text, [], !text.includes(';'))));
    expect(
      (await reserved.run('select n from within order by place', [], true)).rows.map(({ n }) => n),
    ).toEqual([1, 2, 3, 4]);
    expect((await reserved.run('show transaction_isolation', [], true)).rows).toEqual([
      { transaction_isolation: 'repeatable read' },
    ]);
    expect((await reserved.run('rollback', [], true)).tag).toBe('ROLLBACK');
    await expect(reserved.run('select n from within', [], true)).rejects.toMatchObject({ code: '42P01' });
    reserved.release();
  }
  await pool.end();
});

test('a statement that nobody waits for fails its transaction, at its end or at the next statement', async () => {
  const database = openDatabase(target, { requests: 1, background: 1 });
  const { db } = database;
  await raw`create table if not exists ahead (word text unique)`.execute(db);
  const insert = (word: unknown) => CompiledQuery.raw('insert into ahead values ($1)', [word]);
  await inTransaction(db, (tx) => sendAhead(tx, insert('stone')));
  const alone = inTransaction(db, async (tx) => {
    await raw`insert into ahead values ('mortar')`.execute(tx);
    await sendAhead(tx, insert('stone'));
  });
  await expect(alone).rejects.toMatchObject({ code: '23505' });
  const followed = inTransaction(db, async (tx) => {
    await sendAhead(tx, insert('stone'));
    await raw`insert into ahead values ('mortar')`.execute(tx);
  });
  await expect(followed).rejects.toMatchObject({ code: '23505' });
  const unwritable = inTransaction(db, async (tx) => {
    await raw`insert into ahead values ('mortar')`.execute(tx);
    await sendAhead(tx, insert(new Date(Number.NaN)));
  });
  await expect(unwritable).rejects.toThrow('Invalid time value');
  // Outside of a transaction it is waited for.
  await expect(sendAhead(db, insert('stone'))).rejects.toMatchObject({ code: '23505' });
  expect((await raw`select word from ahead`.execute(db)).rows).toEqual([{ word: 'stone' }]);
  await raw`drop table ahead`.execute(db);
  await database.close();
});
