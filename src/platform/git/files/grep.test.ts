/** Output of git grep, and where it is truncated. */
import { expect, test } from 'vitest';
import { git } from '../program/program.ts';
import { parseExcerpts } from './grep.ts';

const COMMIT = 'a'.repeat(40);
const line = (path: string, number: number, text: string): string =>
  `${COMMIT}:${path}\0${number}\0${text}\n`;
const parse = (output: string) => parseExcerpts(Buffer.from(output), COMMIT);

test('lines that stand together are one place', () => {
  const output = `${line('a', 1, 'x')}${line('a', 2, '')}--\n${line('a', 9, '--')}--\n${line('b:c', 3, 'y\0z')}`;
  expect(parse(output)).toEqual([
    { path: 'a', line: 1, text: 'x\n\n' },
    { path: 'a', line: 9, text: '--\n' },
    { path: 'b:c', line: 3, text: 'y\0z\n' },
  ]);
});

test.each([
  ['nothing', ''],
  ['a line that was cut off', `${COMMIT}:a\0${1}\0x`],
  ['what is no line', `Binary file a matches\n${'b'.repeat(40)}:a\0${1}\0x\n${COMMIT}:a\0one\0x\n`],
])('%s is no place', (_, output) => {
  expect(parse(output)).toEqual([]);
});

test('each file is read in its own encoding', () => {
  const output = Buffer.concat([Buffer.from(line('ä', 1, 'ß')), Buffer.from(line('b', 1, 'é'), 'latin1')]);
  expect(parseExcerpts(output, COMMIT).map(({ path, text }) => path + text)).toEqual(['äß\n', 'bé\n']);
});

test('output is cut off where that was asked for, and is too large otherwise', async () => {
  const cut = await git(['version'], { maximumOutput: 5, cutOutput: true });
  expect(cut.toString()).toBe('git v');
  await expect(git(['version'], { maximumOutput: 5 })).rejects.toMatchObject({ status: 422 });
});
