import { expect, test } from 'vitest';
import { BadPktLine, DATA, inBand, PktLineReader, pktLine } from './pkt-line.ts';

const read = (...chunks: string[]): (string | undefined)[] => {
  const reader = new PktLineReader();
  return chunks.flatMap((chunk) =>
    [...reader.push(Buffer.from(chunk))].map((line) => line.payload?.toString()),
  );
};

test.each([
  { chunks: ['0006a\n0000'], lines: ['a\n', undefined] },
  { chunks: ['00', '06a', '\n', '0000'], lines: ['a\n', undefined] },
  { chunks: ['0004'], lines: [''] },
  { chunks: ['0009ab'], lines: [] },
  { chunks: ['0000PACK'], lines: [undefined], bad: true },
  { chunks: ['0001'], lines: [], bad: true },
  { chunks: ['0003'], lines: [], bad: true },
  { chunks: ['-001'], lines: [], bad: true },
  { chunks: ['0x0a'], lines: [], bad: true },
])('the lines of $chunks', ({ chunks, lines, bad }) => {
  if (bad) expect(() => read(...chunks)).toThrow(BadPktLine);
  else expect(read(...chunks)).toEqual(lines);
});

test('a line carries 65,516 bytes, and a band as many lines as it takes', () => {
  expect(pktLine('x'.repeat(65_516)).toString('latin1', 0, 4)).toBe('fff0');
  expect(() => pktLine('x'.repeat(65_517))).toThrow();
  const content = 'y'.repeat(200_000);
  const lines = [...new PktLineReader().push(inBand(DATA, content))];
  expect(lines).toHaveLength(4);
  expect(lines.map(({ payload }) => payload?.subarray(1).toString()).join('')).toBe(content);
  expect(inBand(DATA, '')).toHaveLength(0);
});
