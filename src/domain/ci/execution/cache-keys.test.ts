import { expect, test } from 'vitest';
import type { Commit } from '../../../platform/git/parse.ts';
import { tooLarge } from '../../../platform/git/program/program.ts';
import { sha1 } from '../../../platform/secret.ts';
import { cacheKeys, keyOfFiles } from './cache-keys.ts';

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

test('what git refuses to look for is the default, and what else goes wrong is a fault', async () => {
  const commit = { oid: '1'.repeat(40), tree: '2'.repeat(40), parents: [] as string[] } as Commit;
  const keyWhere = (error: Error) => {
    const fail = () => Promise.reject(error);
    const git = { folder: `/none/${error.message}`, read: fail, info: fail };
    const keys = (['contents', 'commits'] as const).map((of) => ({
      key: { of, files: ['a.lock'], prefix: of },
    }));
    return cacheKeys(git, commit, keys);
  };
  expect(await keyWhere(tooLarge())).toEqual(['contents-default', 'commits-default']);
  await expect(keyWhere(new Error('gone'))).rejects.toThrow('gone');
});
