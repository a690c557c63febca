/** What is serialised by turns is what would be serialised at once, and yields meanwhile. */
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import Type from 'typebox';
import { describe, expect, test } from 'vitest';
import { arriving } from '../arriving.ts';
import { serializeInTurns } from './serialize-in-turns.ts';

const Item = Type.Object({ name: Type.String() });
const Records = Type.Object({
  first: Type.Array(Item),
  id: Type.Integer(),
  second: Type.Optional(Type.Array(Item)),
  third: Type.Optional(Type.Array(Item)),
});
const Lists = Type.Object({ only: Type.Array(Item) });
const items = (count: number, name = 'é"\n') => Array.from({ length: count }, () => ({ name, hidden: 1 }));
const shown = (count: number, name?: string) => items(count, name).map((each) => ({ name: each.name }));

const read = async (serialized: string | Readable): Promise<unknown> =>
  JSON.parse(serialized instanceof Readable ? await text(serialized) : serialized);

test.each([
  ['a list', Type.Array(Item), items(50), shown(50)],
  ['an empty list', Type.Array(Item), [], []],
  ['a record with short lists', Records, { id: 1, first: items(2) }, { id: 1, first: shown(2) }],
  [
    'a record with long lists',
    Records,
    { id: 1, first: items(30), second: items(1), third: items(40), hidden: items(50) },
    { id: 1, first: shown(30), second: shown(1), third: shown(40) },
  ],
  ['a record of one long list', Lists, { only: items(100) }, { only: shown(100) }],
])('%s', async (_name, schema, value, expected) => {
  expect(await read(await serializeInTurns(schema, value))).toEqual(expected);
});

test('a required property that is missing fails', () => {
  expect(() => serializeInTurns(Records, { first: items(30) })).toThrow('"id" is required');
});

test('of a long text, others have their turns meanwhile; a very long one is a stream', async () => {
  const long = 'a'.repeat(200_000);
  let turns = 0;
  const other = () => {
    turns += 1;
    if (turns < 1_000) setImmediate(other);
  };
  setImmediate(other);
  const serialized = await serializeInTurns(Records, { id: 1, first: items(100, long) });
  expect(serialized).toBeInstanceOf(Readable);
  expect(turns).toBeGreaterThan(20);
  turns = 1_000;
  expect(await read(serialized)).toEqual({ id: 1, first: shown(100, long) });
});

describe('a list that arrives', () => {
  const Arriving = Type.Object({
    id: Type.Integer(),
    before: Type.Array(Item),
    list: Type.Array(Item),
    more: Type.Optional(Type.Boolean()),
  });
  const list = (given: readonly object[], isRead?: () => Promise<void>) => {
    let isWhole = false;
    const items = arriving<object>(async (give) => {
      for (const [at, item] of given.entries()) {
        give(item);
        if (at === given.length / 2) await isRead?.();
      }
      isWhole = true;
    });
    return { list: items, more: () => isWhole };
  };

  test.each([
    ['none', 0],
    ['one', 1],
    ['many', 100],
  ])('of %s is a part of the text, before what is known at its end', async (_name, count) => {
    const record = { id: 1, before: items(30), hidden: list([]).list, ...list(items(count)) };
    const serialized = await serializeInTurns(Arriving, record);
    expect(serialized).toBeTypeOf('string');
    expect(await read(serialized)).toEqual({ id: 1, before: shown(30), list: shown(count), more: true });
  });

  test('that is long is sent while the rest of it is made', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const long = items(100, 'a'.repeat(20_000));
    const serialized = await serializeInTurns(Arriving, { id: 1, before: [], ...list(long, () => promise) });
    expect(serialized).toBeInstanceOf(Readable);
    const parts: string[] = [];
    for await (const part of serialized as Readable) {
      parts.push(part);
      // Nothing more was given until a part was read.
      resolve();
    }
    expect(parts.length).toBeGreaterThan(20);
    const whole = { id: 1, before: [], list: shown(100, 'a'.repeat(20_000)), more: true };
    expect(JSON.parse(parts.join(''))).toEqual(whole);
  });

  test('begins with its first part, and waits for no second one', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const given = items(8, 'a'.repeat(20_000));
    const serialized = await serializeInTurns(Arriving, { id: 1, before: [], ...list(given, () => promise) });
    resolve();
    const whole = { id: 1, before: [], list: shown(8, 'a'.repeat(20_000)), more: true };
    expect(await read(serialized)).toEqual(whole);
  });

  test('fails before the first part, or ends in the middle', async () => {
    const failing = (long: readonly object[]) => ({
      id: 1,
      before: [],
      ...list(long, () => Promise.reject(new Error('broken'))),
    });
    await expect(serializeInTurns(Arriving, failing(items(100)))).rejects.toThrow('broken');
    const serialized = await serializeInTurns(Arriving, failing(items(100, 'a'.repeat(20_000))));
    await expect(text(serialized as Readable)).rejects.toThrow('broken');
  });

  test('and that nobody reads may fail', async () => {
    arriving(() => Promise.reject(new Error('broken')));
    await new Promise(setImmediate);
  });
});
