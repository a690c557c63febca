/** Fenced code: its blocks, and how far they are looked for. */
import { expect, test } from 'vitest';
import { fencedBlocks, fencedLines } from './fences.ts';

test('a block without an end goes to the end of the text', () => {
  const lines = ['~~~a', 'one', '~~~', 'text', '```b', ' two'];
  expect([...fencedBlocks(lines, () => true)]).toEqual([
    { info: 'a', lines: ['one'] },
    { info: 'b', lines: [' two'] },
  ]);
  expect(fencedLines(lines)).toEqual([true, true, true, false, true, true]);
});

test('of a text of fences no more blocks are made than are taken', () => {
  const lines = Array.from({ length: 50_000 }, () => ['```a', 'one', '```']).flat();
  let asked = 0;
  const isWanted = () => {
    asked += 1;
    return true;
  };
  const blocks = fencedBlocks(lines, isWanted);
  for (let taken = 0; taken < 100; taken++)
    expect(blocks.next()).toMatchObject({ value: { lines: ['one'] } });
  expect(asked).toBe(100);
});
