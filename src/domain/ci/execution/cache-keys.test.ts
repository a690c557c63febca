import { expect, test } from 'vitest';
import { sha1 } from '../../../platform/secret.ts';
import { keyOfFiles } from './cache-keys.ts';

const hashed = (text: string) => sha1(text).toString('hex');

test.each<[files: string[], prefix: string | null, index: number, ids: (string | undefined)[], key: string]>([
  [['package-lock.json'], null, 0, ['b1'], `0_package-lock-${hashed('b1')}`],
  [['a.lock', 'b.lock'], null, 2, ['b2', 'b1'], `2_a_b-${hashed('b1-b2')}`],
  [['a.lock', 'b.lock'], 'gems', 1, ['b1', 'b1'], `gems-${hashed('b1')}`],
  [['a.lock', 'b.lock'], 'gems', 0, [undefined, 'b1'], `gems-${hashed('b1')}`],
  [['a.lock'], 'gems', 0, [undefined], 'gems-default'],
  [['Gemfile'], null, 0, [undefined], '0_Gemfile-default'],
])('%j, prefix %j, at %i, of %j', (files, prefix, index, ids, key) => {
  expect(keyOfFiles({ files, prefix }, index, ids)).toBe(key);
});
