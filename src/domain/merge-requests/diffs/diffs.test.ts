/** What merge requests change, over HTTP, against what git says. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers } from '../../../../test/support/factories.ts';
import {
  gitIn,
  type HistoryFile,
  importCommit,
  openBetween,
} from '../../../../test/support/git-histories.ts';
import { makeReviewedProject } from '../../../../test/support/merge-requests.ts';
import { projectRepository } from '../../repositories/index.ts';

const ashlar = useApp();

type Opened = { id: number; path: string; base: string; head: string };

/** A merge request in a project whose main has some files, of which the branch changes some. */
async function openChange(before: readonly HistoryFile[], after: readonly HistoryFile[]): Promise<Opened> {
  const { id } = await makeReviewedProject(ashlar);
  const base = await importCommit(ashlar, id, 'main', before, { from: 'refs/heads/main^0' });
  const head = await importCommit(ashlar, id, 'topic', after, { from: base });
  // What the target gets later is no part of the change.
  await importCommit(ashlar, id, 'main', [{ path: 'later', text: 'later' }], { from: 'refs/heads/main^0' });
  const { iid } = await openBetween(ashlar, id, 'topic');
  return { id, path: `/projects/${id}/merge_requests/${iid}`, base, head };
}

const lines = (count: number, text = 'line'): string =>
  Array.from({ length: count }, (_, at) => `${text} ${at}\n`).join('');

const before: HistoryFile[] = [
  { path: 'changed', text: lines(30) },
  { path: 'crlf', text: 'one\r\ntwo\r\n' },
  { path: 'gone', text: 'gone\n' },
  { path: 'latin', text: 'caf\xe9\n' },
  { path: 'link', text: 'changed', mode: '120000' },
  { path: 'mode', text: '#!\n' },
  { path: 'module', text: '1'.repeat(40), mode: '160000' },
  { path: 'old/name', text: lines(30, 'name') },
  { path: 'picture', text: 'a\0b' },
  { path: 'unended', text: 'a\nb' },
];
const after: HistoryFile[] = [
  { path: 'changed', text: `first\n${lines(30)}last\n` },
  { path: 'crlf', text: 'one\ntwo\r\nthree\r\n' },
  { path: 'gone' },
  { path: 'latin', text: 'caf\xe9s\n' },
  { path: 'link', text: 'a file now\n' },
  { path: 'mode', text: '#!\n', mode: '100755' },
  { path: 'module', text: '2'.repeat(40), mode: '160000' },
  { path: 'old/name' },
  { path: 'new/name', text: `${lines(30, 'name')}more\n` },
  { path: 'picture', text: 'a\0c' },
  { path: 'unended', text: 'a\nb\nc' },
  { path: 'empty', text: '' },
  { path: 'package-lock.json', text: '{}\n' },
  { path: '"a\\nb \\"c\\" \\303\\251"', text: '--- a/x\n+++ b/x\ndiff --git a/x b/x\n' },
];

describe('a change of every kind', () => {
  let opened: Opened;
  beforeAll(async () => {
    opened = await openChange(before, after);
  });

  const patchesBy = async (...options: string[]): Promise<string[]> => {
    const whole = await gitIn(ashlar, opened.id, [...options, 'diff', '-M', opened.base, opened.head]);
    return whole.split(/^(?=diff --git )/m);
  };

  test('is, as text, that of git', async () => {
    const raw = await ashlar.root(`GET ${opened.path}/raw_diffs`);
    expect(raw.status).toBe(200);
    expect(raw.headers.get('content-type')).toBe('text/plain');
    expect(raw.headers.get('cache-control')).toBe('no-store');
    expect(raw.text).toBe(Buffer.from((await patchesBy()).join(''), 'latin1').toString());
    const head = await ashlar.root(`HEAD ${opened.path}/raw_diffs`);
    expect([head.status, head.text]).toEqual([200, '']);
  });

  test.each([
    ['', /^(@@ |Binary files )/m],
    ['unidiff=true', /^(--- |Binary files )/m],
  ])('has the hunks of git, file by file %s', async (query, start) => {
    const { changes, overflow, ...record } = bodyOf(
      await ashlar.root(`GET ${opened.path}/changes`, { query }),
      200,
    );
    expect(overflow).toBe(false);
    const patches = await patchesBy('-c', 'core.quotePath=false');
    expect(record).toMatchObject({ iid: 1, changes_count: String(patches.length), sha: opened.head });
    const expected = patches.map((patch) => {
      const at = patch.search(start);
      return at < 0 ? '' : patch.slice(at);
    });
    // One is no UTF-8.
    const shown = changes.map(({ diff }: { diff: string }) =>
      expected.includes(diff) ? diff : Buffer.from(diff).toString('latin1'),
    );
    expect(shown).toEqual(expected);
    const raw = bodyOf(
      await ashlar.root(`GET ${opened.path}/changes`, { query: `${query}&access_raw_diffs=true` }),
      200,
    );
    expect(raw.changes).toEqual(changes);
  });

  test('says what became of each file', async () => {
    const { changes } = bodyOf(await ashlar.root(`GET ${opened.path}/changes`), 200);
    const file = (path: string) => changes.find((each: { new_path: string }) => each.new_path === path);
    const common = {
      new_file: false,
      renamed_file: false,
      deleted_file: false,
      collapsed: false,
      too_large: false,
    };
    expect(file('changed')).toMatchObject({ ...common, a_mode: '100644', b_mode: '100644' });
    expect(file('gone')).toMatchObject({ ...common, deleted_file: true, b_mode: '0' });
    expect(file('empty')).toMatchObject({ ...common, new_file: true, a_mode: '0', diff: '' });
    expect(file('mode')).toMatchObject({ ...common, a_mode: '100644', b_mode: '100755', diff: '' });
    expect(file('new/name')).toMatchObject({ ...common, renamed_file: true, old_path: 'old/name' });
    expect(file('module')).toMatchObject({ ...common, a_mode: '160000', b_mode: '160000' });
    expect(file('module').diff).toContain(`+Subproject commit ${'2'.repeat(40)}\n`);
    expect(file('picture').diff).toBe('Binary files a/picture and b/picture differ\n');
    expect(file('latin').diff).toContain('+cafés\n');
    expect(file('unended').diff).toContain('\\ No newline at end of file\n');
    expect(file('package-lock.json')).toMatchObject({ ...common, new_file: true, generated_file: true });
    expect(file('a\nb "c" é')).toMatchObject({ ...common, new_file: true });
    expect(changes.filter((each: { new_path: string }) => each.new_path === 'link')).toMatchObject([
      { deleted_file: true, a_mode: '120000' },
      { new_file: true, b_mode: '100644' },
    ]);
  });

  test('by the page is the same, and ends where it ends', async () => {
    const { changes } = bodyOf(await ashlar.root(`GET ${opened.path}/changes`), 200);
    const read = async (page: number) =>
      ashlar.root(`GET ${opened.path}/diffs`, { query: `per_page=4&page=${page}` });
    const pages = await Promise.all([1, 2, 3, 4, 5, 9_999].map(read));
    expect(pages.flatMap(({ body }) => body)).toEqual(changes);
    expect(pages.map(({ headers }) => headers.get('x-total'))).toEqual(Array(6).fill(String(changes.length)));
    expect(pages[0]?.headers.get('x-next-page')).toBe('2');
    expect(pages[3]?.headers.get('x-next-page')).toBe('');
    expect(pages[5]?.body).toEqual([]);
    const first = bodyOf(
      await ashlar.root(`GET ${opened.path}/diffs`, { query: 'unidiff=true&per_page=1' }),
      200,
    );
    expect(first[0].diff).toMatch(/^--- .*\n\+\+\+ .*\n@@ /);
  });
});

describe('a change of very many files, and very large ones', () => {
  let opened: Opened;
  beforeAll(async () => {
    const many = Array.from({ length: 3_100 }, (_, at) => `dir${at % 31}/file${at}`);
    opened = await openChange(
      [{ path: 'a-large', text: lines(40_000) }, ...many.map((path) => ({ path, text: `of ${path}\n` }))],
      [
        { path: 'a-large', text: lines(40_000, 'row') },
        ...many.map((path) => ({ path, text: `in ${path}\n` })),
      ],
    );
  });

  test('is listed as far as a list goes, and says so', async () => {
    const record = bodyOf(await ashlar.root(`GET ${opened.path}`), 200);
    expect(record.changes_count).toBe('3000+');
    const { changes, overflow } = bodyOf(await ashlar.root(`GET ${opened.path}/changes`), 200);
    expect([changes.length, overflow]).toEqual([3_000, true]);
    expect(changes[0]).toMatchObject({ new_path: 'a-large', diff: '', too_large: true, collapsed: false });
    expect(changes[1].diff).toBe('@@ -1 +1 @@\n-of dir0/file0\n+in dir0/file0\n');
    const names = await gitIn(ashlar, opened.id, ['diff', '--name-only', opened.base, opened.head]);
    expect(changes.map((file: { new_path: string }) => file.new_path)).toEqual(
      names.split('\n').slice(0, 3_000),
    );
    const [version] = bodyOf(await ashlar.root(`GET ${opened.path}/versions`), 200);
    expect(version).toMatchObject({ state: 'overflow', real_size: '3000+' });
    for (const page of [1, 15, 30, 31]) {
      const shown = await ashlar.root(`GET ${opened.path}/diffs`, { query: `per_page=100&page=${page}` });
      expect(shown.body).toEqual(changes.slice((page - 1) * 100, page * 100));
      expect(shown.headers.get('x-total')).toBe('3000');
    }
  });

  test('has all of it as text, and whoever reads a part of that leaves nothing behind', async () => {
    const address = `${ashlar.url}/api/v4${opened.path}/raw_diffs`;
    const headers = { 'private-token': 'glpat-root-token-of-the-tests' };
    const raw = await (await fetch(address, { headers })).text();
    expect(raw).toBe(await gitIn(ashlar, opened.id, ['diff', '-M', opened.base, opened.head]));
    const gone = new AbortController();
    const { body } = await fetch(address, { headers, signal: gone.signal });
    const { value } = (await body?.getReader().read()) ?? {};
    expect(value?.length).toBeGreaterThan(0);
    gone.abort();
    const uses = () => ashlar.app.services.repositories.uses('project', opened.id, ['read']);
    await expect.poll(uses, { timeout: 10_000 }).toBe(0);
  });
});

describe('a change of which git can read a part', () => {
  /** Files of 60 kB, of which the branch changes all; git does not find what this one was. */
  async function openBroken(missing: string): Promise<Opened> {
    const paths = Array.from({ length: 20 }, (_, at) => `file-${at + 10}`);
    const opened = await openChange(
      paths.map((path) => ({ path, text: lines(4_000, path) })),
      paths.map((path) => ({ path, text: lines(4_000, `other ${path}`) })),
    );
    const oid = (await gitIn(ashlar, opened.id, ['rev-parse', `${opened.base}:${missing}`])).trim();
    const { repositories } = ashlar.app.services;
    await repositories.write(projectRepository(opened.id), 'main', async ({ folder }) =>
      rmSync(join(folder, 'objects', oid.slice(0, 2), oid.slice(2))),
    );
    return opened;
  }
  const headers = { 'private-token': 'glpat-root-token-of-the-tests' };
  const allOf = async (opened: Opened): Promise<string[]> => {
    const [version] = bodyOf(await ashlar.root(`GET ${opened.path}/versions`), 200);
    const compare = `/projects/${opened.id}/repository/compare?from=${opened.base}&to=${opened.head}`;
    return [`${opened.path}/changes`, `${opened.path}/versions/${version.id}`, compare];
  };

  test('is a failure, or an answer that visibly ends in the middle', async () => {
    for (const path of await allOf(await openBroken('file-10')))
      expect((await ashlar.root(`GET ${path}`)).status).toBe(500);
    const opened = await openBroken('file-28');
    for (const path of await allOf(opened)) {
      const response = await fetch(`${ashlar.url}/api/v4${path}`, { headers });
      expect(response.status).toBe(200);
      await expect(response.text()).rejects.toThrow();
    }
    const uses = () => ashlar.app.services.repositories.uses('project', opened.id, ['read']);
    await expect.poll(uses, { timeout: 10_000 }).toBe(0);
  });
});

test('of branches without a difference there is none', async () => {
  const { id } = await makeReviewedProject(ashlar);
  await gitIn(ashlar, id, ['branch', 'same', 'main']);
  await openBetween(ashlar, id, 'same');
  const path = `/projects/${id}/merge_requests/1`;
  expect(bodyOf(await ashlar.root(`GET ${path}/diffs`), 200)).toEqual([]);
  expect(bodyOf(await ashlar.root(`GET ${path}/changes`), 200)).toMatchObject({
    changes: [],
    overflow: false,
  });
  expect((await ashlar.root(`GET ${path}/raw_diffs`)).text).toBe('');
  const [version] = bodyOf(await ashlar.root(`GET ${path}/versions`), 200);
  expect(version).toMatchObject({ state: 'empty', real_size: '0' });
  const shown = bodyOf(await ashlar.root(`GET ${path}/versions/${version.id}`), 200);
  expect(shown).toMatchObject({ commits: [], diffs: [] });
});

test('who may not read the code sees nothing of the change', async () => {
  const { id, path } = await openChange([], [{ path: 'a', text: 'a' }]);
  const { guest, reporter } = await makeMembers(ashlar, `projects/${id}`, 'guest', 'reporter');
  const [version] = bodyOf(await ashlar.as(reporter.token)(`GET ${path}/versions`), 200);
  const below = ['diffs', 'changes', 'raw_diffs', 'versions', `versions/${version.id}`, 'commits'];
  const statuses = (call: typeof ashlar.call) =>
    Promise.all(below.map(async (name) => (await call(`GET ${path}/${name}`)).status));
  const all = (status: number) => below.map(() => status);
  expect(await statuses(ashlar.as(reporter.token))).toEqual(all(200));
  expect(await statuses(ashlar.as(guest.token))).toEqual(all(403));
  expect(await statuses(ashlar.call)).toEqual(all(404));
  bodyOf(await ashlar.root(`PUT /projects/${id}`, { body: { visibility: 'public' } }), 200);
  expect(await statuses(ashlar.call)).toEqual(all(200));
  bodyOf(await ashlar.root(`PUT /projects/${id}`, { body: { repository_access_level: 'private' } }), 200);
  expect(await statuses(ashlar.call)).not.toContain(200);
  const other = await openChange([], [{ path: 'b', text: 'b' }]);
  expect((await ashlar.root(`GET ${other.path}/versions/${version.id}`)).status).toBe(404);
  expect((await ashlar.root(`GET /projects/${id}/merge_requests/99/diffs`)).status).toBe(404);
});
