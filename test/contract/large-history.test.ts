/** A repository of 20,000 commits and 10,000 files, read through the API as git itself reads it. */
import { beforeAll, expect, test } from 'vitest';
import { recordPush } from '../../src/domain/repositories/pushes/pushes.ts';
import { projectRepository } from '../../src/domain/repositories/store/containers.ts';
import { NO_OBJECT } from '../../src/platform/git/names.ts';
import { gitText, spawnGit } from '../../src/platform/git/program/program.ts';
import { readRef } from '../../src/platform/git/refs.ts';
import { useApp } from '../support/app.ts';
import { bodyOf, makeProject } from '../support/factories.ts';
import { HISTORY, historyStream } from '../support/history.ts';

const ashlar = useApp();
let project = 0;
let folder = '';

beforeAll(async () => {
  ({ id: project } = await makeProject(ashlar));
  const { services } = ashlar.app;
  await services.repositories.write(projectRepository(project), 'main', async (git) => {
    folder = git.folder;
    const { stdin, stdout, ended } = await spawnGit(['fast-import', '--quiet'], { folder });
    stdout.resume();
    for (const piece of historyStream())
      if (!stdin.write(piece)) await new Promise<void>((resolve) => stdin.once('drain', () => resolve()));
    stdin.end();
    expect(await ended).toMatchObject({ code: 0 });
    const ref = 'refs/heads/main';
    const after = (await readRef(git, ref)) ?? NO_OBJECT;
    const root = { id: 1, username: 'root', name: 'Administrator' };
    await recordPush(services, { id: project, empty: true }, root, git, [{ ref, before: NO_OBJECT, after }]);
  });
});

const ask = (path: string, query = '') =>
  ashlar.root(`GET /projects/${project}/repository/${path}`, { query });
const log = async (...args: string[]) =>
  (await gitText(['log', '--format=%H', ...args], { folder })).split('\n').filter((line) => line !== '');

test('pages of commits, the first and one behind most of the history, are those of git log', async () => {
  const all = await log('refs/heads/main');
  expect(all.length).toBe(HISTORY.commits);
  for (const page of [1, 30, 150, 200]) {
    const response = await ask('commits', `ref_name=main&per_page=100&page=${page}`);
    const ids = bodyOf(response, 200).map(({ id }: { id: string }) => id);
    expect([page, ids]).toEqual([page, all.slice((page - 1) * 100, page * 100)]);
    // More than are counted.
    expect(response.headers.get('x-total')).toBeNull();
    expect(response.headers.get('x-next-page')).toBe(page === 200 ? '' : String(page + 1));
  }
  const first = await log('--first-parent', '--skip=300', '-20', 'refs/heads/main');
  const firstParents = await ask('commits', 'ref_name=main&first_parent=true&page=16');
  expect(bodyOf(firstParents, 200).map(({ id }: { id: string }) => id)).toEqual(first);
});

test('every file is in the tree once, by offset and by keyset', async () => {
  const names = (await gitText(['ls-tree', '-r', '-t', '--name-only', 'refs/heads/main'], { folder })).split(
    '\n',
  );
  const expected = names.filter((name) => name !== '').length;
  const seen = new Set<string>();
  const query = 'ref=main&recursive=true&per_page=100&pagination=keyset';
  let next: string | undefined = query;
  let pages = 0;
  while (next !== undefined) {
    const response: Awaited<ReturnType<typeof ask>> = await ask('tree', next);
    for (const { path } of bodyOf(response, 200)) {
      expect(seen.has(path)).toBe(false);
      seen.add(path);
    }
    next = /<[^>]*\?([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
    pages += 1;
    expect(pages).toBeLessThan(200);
  }
  expect(seen.size).toBe(expected);
  const offset = await ask('tree', 'ref=main&recursive=true&per_page=100&page=50');
  expect(bodyOf(offset, 200)).toHaveLength(100);
});

test('the last commit of a file, its blame and what changed since are those of git', async () => {
  for (const path of [
    'area-0/part-0/file-0.txt',
    'area-24/part-19/file-19.txt',
    'area-7/part-3/file-11.txt',
  ]) {
    const [last] = await log('-1', 'refs/heads/main', '--', path);
    const file = bodyOf(await ask(`files/${encodeURIComponent(path)}`, 'ref=main'), 200);
    expect([path, file.last_commit_id]).toEqual([path, last]);
    const listed = await ask('commits', `ref_name=main&path=${encodeURIComponent(path)}`);
    expect(bodyOf(listed, 200).map(({ id }: { id: string }) => id)).toEqual(
      await log('refs/heads/main', '--', path),
    );
  }
  const [old = ''] = await log('-1', '--skip=50', 'refs/heads/main');
  const comparison = bodyOf(await ask('compare', `from=${old}&to=main`), 200);
  expect(comparison.commits.map(({ id }: { id: string }) => id).sort()).toEqual(
    (await log(`^${old}`, 'refs/heads/main')).sort(),
  );
});
