import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

const program = `
  import { readdirSync, readFileSync } from 'node:fs';
  import { readFile } from 'node:fs/promises';
  import { giveWay } from '${new URL('./priority.ts', import.meta.url).href}';
  const niceOf = (text) => Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[16]);
  const all = () => readdirSync('/proc/self/task').map((id) => niceOf(readFileSync('/proc/self/task/' + id + '/stat', 'latin1')));
  giveWay('all');
  // Threads that were not there yet.
  await Promise.all(Array.from({ length: 8 }, () => readFile('/proc/self/stat')));
  console.log(JSON.stringify(all()));
`;

test('gives way with all threads, those of later too', () => {
  const told = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  const after: number[] = JSON.parse(told);
  expect(after.length).toBeGreaterThan(1);
  expect(new Set(after)).toEqual(new Set([19]));
});
