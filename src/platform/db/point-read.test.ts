import { expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { pointRead } from './point-read.ts';

const app = useApp();

/** Of the rows (1, 'one'), (2, 'two'), (3, 'three'). */
const read = pointRead<{ id: number; name: string; asked: string | null }>(
  ['integer', 'text'],
  `select id, name, k.v2 as asked
   from (values (1, 'one'), (2, 'two'), (3, 'three')) as t(id, name) where id = k.v1`,
);

test('each has the row of its own key, or none', async () => {
  const { points } = app.app.services.database;
  const keys = [
    [1, 'a'],
    [2, 'b'],
    [9, 'c'],
    [2, 'd'],
    [1, 'a'],
    [3, `x'"\\,{}`],
  ] as const;
  const rows = await Promise.all(keys.map((key) => read(points, key)));
  expect(rows.map((row) => row && [row.id, row.name, row.asked])).toEqual([
    [1, 'one', 'a'],
    [2, 'two', 'b'],
    undefined,
    [2, 'two', 'd'],
    [1, 'one', 'a'],
    [3, 'three', `x'"\\,{}`],
  ]);
});

test('what is asked after a write was done sees it', async () => {
  const { points, sql } = app.app.services.database;
  await sql`create table counted (id integer primary key, n integer not null)`;
  await sql`insert into counted values (1, 0)`;
  const count = pointRead<{ n: number }>(['integer'], 'select n from counted where id = k.v1');
  for (let n = 1; n <= 50; n++) {
    const before = Array.from({ length: 5 }, () => count(points, [1]));
    await sql`update counted set n = ${n} where id = 1`;
    expect(await count(points, [1])).toMatchObject({ n });
    await Promise.all(before);
  }
});

test('a failure is told to who asked, and the next read goes on', async () => {
  const { points } = app.app.services.database;
  const divide = pointRead<{ n: number }>(['integer'], 'select 6 / k.v1 as n');
  const settled = await Promise.allSettled([divide(points, [0]), divide(points, [2])]);
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  expect(await divide(points, [3])).toMatchObject({ n: 2 });
});

test('many keys of one caller are several statements, between which others are read', async () => {
  const { points } = app.app.services.database;
  const together = pointRead<{ id: number; n: number }>(
    ['integer'],
    'select k.v1 as id, cardinality($1::integer[]) as n',
  );
  const ids = Array.from({ length: 150 }, (_, id) => id);
  const rows = await together.each(
    points,
    ids.map((id) => [id]),
  );
  expect(rows.map((row) => row?.id)).toEqual(ids);
  expect(Math.max(...rows.map((row) => row?.n ?? 0))).toBe(64);
});
