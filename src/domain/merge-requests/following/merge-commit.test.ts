import { expect, test } from 'vitest';
import { mergeCommitOf } from './merge-commit.ts';

test.each<[what: string, pushed: string[], oid: string, mergeCommit: string | undefined]>([
  ['the head itself', ['c b', 'b a'], 'c', 'c'],
  ['one below it', ['c b', 'b a'], 'b', 'b'],
  ['a merged head', ['m a t', 't a'], 't', 'm'],
  ['a merged head below others', ['n m', 'm a t', 't a'], 't', 'm'],
  ['one merged with another branch', ['n m u', 'u m', 'm a t', 't s', 's a'], 's', 'm'],
  ['one that came by a branch that had merged it', ['m a u', 'u s t', 't s', 's a'], 't', 'm'],
  ['one of several parents', ['m a s t', 't a', 's a'], 't', 'm'],
  ['none of them', ['m a t', 't a'], 'x', undefined],
  ['none', [], 'x', undefined],
])('%s', (_what, pushed, oid, mergeCommit) => {
  const commits = pushed.map((line) => {
    const [id = '', ...parents] = line.split(' ');
    return { oid: id, parents };
  });
  expect(mergeCommitOf(commits, oid)).toBe(mergeCommit);
});
