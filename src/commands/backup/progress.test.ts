import { expect, test } from 'vitest';
import { createProgress, sizeInWords } from './progress.ts';

function started(isTTY: boolean) {
  const written: string[] = [];
  let time = 0;
  const output = { isTTY, columns: 12, write: (text: string) => written.push(text) };
  const progress = createProgress(output, () => time);
  return {
    written,
    at(milliseconds: number, text: string) {
      time = milliseconds;
      progress.at(text);
    },
    tell: progress.tell,
  };
}

test('a terminal has one line that changes, which a line that stays takes the place of', () => {
  const { written, at, tell } = started(true);
  at(100, 'too soon');
  at(200, 'files: 1');
  at(300, 'too soon');
  at(400, 'files: 2, of many more');
  tell('2 files');
  tell('done');
  expect(written).toEqual(['\r\x1b[Kfiles: 1', '\r\x1b[Kfiles: 2, o', '\r\x1b[K2 files\n', 'done\n']);
});

test('elsewhere there is a line every ten seconds', () => {
  const { written, at, tell } = started(false);
  at(9_000, 'too soon');
  at(10_000, 'files: 1, of many');
  at(19_000, 'too soon');
  tell('2 files');
  expect(written).toEqual(['files: 1, of many\n', '2 files\n']);
});

test.each([
  [0, '0 bytes'],
  [999, '999 bytes'],
  [1_500, '1.5 kB'],
  [5_000_000_000, '5.0 GB'],
  [2e15, '2000.0 TB'],
])('%d is %s', (bytes, words) => {
  expect(sizeInWords(bytes)).toBe(words);
});
