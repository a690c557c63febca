/** What is serialised by turns is what would be serialised at once, and yields meanwhile. */
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import Type from 'typebox';
import { expect, test } from 'vitest';
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
