/** Commits that come from another repository. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { makeHistory } from '../../../../test/support/shaped-history.ts';
import { NO_OBJECT } from '../names.ts';
import { createObjectReader } from '../objects.ts';
import { GitError, git, gitText } from '../program/program.ts';
import { findCommit, readRef } from '../refs.ts';
import { createRepository, RefMoved } from '../write.ts';
import { allRefs } from './copy.ts';
import { fetchRef } from './fetch.ts';
import { forkRepository } from './fork.ts';

const root = mkdtempSync(join(tmpdir(), 'ashlar-fetch-'));
const reader = createObjectReader();
afterAll(() => {
  reader.stop();
  rmSync(root, { recursive: true, force: true });
});

const REF = 'refs/merge-requests/7/head';
let made = 0;
let target = '';
let fork = '';
let ids: Record<string, string> = {};

/** A repository and its fork, in which two branches go on. */
beforeEach(async () => {
  made += 1;
  target = join(root, `target-${made}.git`);
  fork = join(root, `fork-${made}.git`);
  await createRepository(target, 'base');
  await createRepository(fork, 'base');
  await makeHistory(target, [
    { name: 'base', files: { a: '1' } },
    { name: 'base', parents: ['base'], files: { a: '2' } },
  ]);
  await forkRepository(target, fork, undefined);
  ids = await makeHistory(fork, [
    { name: 'base', files: { a: '1' } },
    { name: 'base', parents: ['base'], files: { a: '2' } },
    { name: 'wanted', parents: ['base'], files: { 'd/w': 'wanted' } },
    { name: 'next', parents: ['wanted'], files: { 'd/n': 'next' } },
    { name: 'secret', parents: ['wanted'], files: { s: 'secret' } },
  ]);
});

const has = async (folder: string, oid = ''): Promise<boolean> =>
  (await gitText(['cat-file', '--batch-check'], { folder, input: `${oid}\n` })).includes(' commit ');
const move = (before: string, name: string) =>
  fetchRef(fork, target, { ref: REF, before, after: ids[name] ?? '' });
const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();

test('the commit comes with what it needs, and nothing else comes or goes', async () => {
  const before = filesOf(fork);
  const refs = await allRefs(target);
  expect(await move(NO_OBJECT, 'wanted')).toBe('fetched');
  expect(await allRefs(target)).toBe(`${refs}${ids.wanted} ${REF}\n`);
  for (const name of ['next', 'secret']) expect(await has(target, ids[name])).toBe(false);
  const blob = (await gitText(['rev-parse', 'secret:s'], { folder: fork })).trim();
  await expect(git(['cat-file', '-e', blob], { folder: target })).rejects.toThrow(GitError);
  expect(filesOf(fork)).toEqual(before);
  // The repository stands alone.
  rmSync(fork, { recursive: true });
  expect(existsSync(join(target, 'objects', 'info', 'alternates'))).toBe(false);
  expect(existsSync(join(target, 'FETCH_HEAD'))).toBe(false);
  await git(['fsck', '--strict', '--full'], { folder: target });
  expect((await findCommit(reader.open(target), REF))?.message).toBe('wanted');
});

test('what is there already is not copied again', async () => {
  await move(NO_OBJECT, 'wanted');
  const before = filesOf(join(target, 'objects')).filter((name) => name.length > 40);
  expect(await move(ids.wanted ?? '', 'next')).toBe('fetched');
  const after = filesOf(join(target, 'objects')).filter((name) => name.length > 40);
  // The commit, two trees and the file.
  expect(after.length - before.length).toBe(4);
  expect(await move(ids.next ?? '', 'wanted')).toBe('fetched');
  expect(await readRef(reader.open(target), REF)).toBe(ids.wanted);
});

test('of several at once that saw the same, one moves the ref', async () => {
  const moves = ['wanted', 'next', 'secret'].map((name) => move(NO_OBJECT, name));
  const ends = await Promise.allSettled(moves);
  expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const end of ends) if (end.status === 'rejected') expect(end.reason).toBeInstanceOf(RefMoved);
  const winner = ['wanted', 'next', 'secret'].find((_, index) => ends[index]?.status === 'fulfilled') ?? '';
  expect(await readRef(reader.open(target), REF)).toBe(ids[winner]);
});

test('a commit that is not there, and no repository', async () => {
  const refs = await allRefs(target);
  const update = { ref: REF, before: NO_OBJECT, after: '1'.repeat(40) };
  expect(await fetchRef(fork, target, update)).toBe('missing');
  await expect(fetchRef(join(root, 'none.git'), target, update)).rejects.toThrow(GitError);
  expect(await allRefs(target)).toBe(refs);
});

test('many objects come as one pack', async () => {
  const files = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`f${n}`, `${n}`]));
  ids = await makeHistory(fork, [{ name: 'many', files }]);
  expect(await move(NO_OBJECT, 'many')).toBe('fetched');
  expect(filesOf(join(target, 'objects', 'pack')).some((name) => name.endsWith('.pack'))).toBe(true);
  await git(['fsck', '--strict', '--full'], { folder: target });
});
