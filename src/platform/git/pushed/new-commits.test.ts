/** What commits that no branch has yet change. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeHistory } from '../../../../test/support/shaped-history.ts';
import { git } from '../program/program.ts';
import { createRepository } from '../write.ts';
import { pathsOfNewCommits } from './new-commits.ts';

const root = mkdtempSync(join(tmpdir(), 'ashlar-new-commits-'));
const folder = join(root, 'one.git');
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeAll(() => createRepository(folder, 'main'));

test('paths of commits that no branch has, a merge with what only it changes', async () => {
  const more = await makeHistory(folder, [
    { name: 'root', files: { x: '1', 'y z/ü': '1' } },
    { name: 'side', parents: ['root'], files: { s: '1' } },
    { name: 'main', parents: ['root'], files: { m: '1' } },
    { name: 'merge', parents: ['main', 'side'], files: { m: '1', s: '1' } },
    { name: 'evil', parents: ['main', 'side'], files: { m: '1', s: '1', x: '2' } },
  ]);
  const names = ['root', 'side', 'main', 'merge', 'evil'];
  await git(['update-ref', '--stdin'], {
    folder,
    input: names.map((name) => `delete refs/heads/${name}\n`).join(''),
  });
  const paths = async (name: string) =>
    (await pathsOfNewCommits({ folder }, [more[name] ?? ''])).paths.sort();
  expect(await paths('root')).toEqual(['x', 'y z/ü']);
  expect(await paths('merge')).toEqual(['m', 's', 'x', 'y z/ü']);
  await git(['update-ref', 'refs/heads/main', more.main ?? ''], { folder });
  expect(await paths('main')).toEqual([]);
  expect(await paths('merge')).toEqual(['s']);
  expect(await paths('evil')).toEqual(['s', 'x']);
  const both = await pathsOfNewCommits({ folder }, [more.side ?? '', more.evil ?? '']);
  expect(both.paths.sort()).toEqual(['s', 'x']);
});

test('new commits that are too many are not told whole', async () => {
  const commits = Array.from(
    { length: 10_001 },
    (_, at) => `commit refs/heads/long\nmark :${at + 1}\ncommitter a <a@example.com> ${at} +0000\ndata 0\n`,
  );
  await git(['fast-import', '--quiet'], { folder, input: commits.join('') });
  const tip = (await git(['rev-parse', 'refs/heads/long', 'refs/heads/long^'], { folder })).toString();
  const [all = '', butOne = ''] = tip.split('\n');
  await git(['update-ref', '-d', 'refs/heads/long'], { folder });
  expect(await pathsOfNewCommits({ folder }, [all])).toEqual({ paths: [], isComplete: false });
  expect(await pathsOfNewCommits({ folder }, [butOne, butOne])).toEqual({ paths: [], isComplete: true });
});
