/** Search in the files, the wiki and the commits of a project, over HTTP. */
import { beforeAll, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers, makeProject, makeUser } from '../../../../test/support/factories.ts';
import { fillProject } from '../../../../test/support/repositories.ts';
import { projectWikiParent, pushPages } from '../../../../test/support/wikis.ts';

const app = useApp();
let id = 0;
let head = '';

const LINES = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`);
const withLines = (changes: Record<number, string>): string =>
  `${LINES.map((line, index) => changes[index + 1] ?? line).join('\n')}\n`;

beforeAll(async () => {
  ({ id } = await makeProject(app));
  head = await fillProject(app, id, [
    { 'old.txt': 'an old needle\n' },
    {
      'src/main.ts': withLines({ 4: 'a Needle here', 6: 'needle again', 15: 'the third needle' }),
      'src/largé.md': 'größe --option\n',
      'docs/needle-notes.md': 'first\nsecond\n',
      'binary.dat': 'needle\0needle\n',
      'latin.txt': 'caf\u00e9\n',
      ':(glob)*': 'magic\n',
    },
  ]);
  await fillProject(app, id, [{ 'only-here.txt': 'a feature needle\n' }], 'feature');
});

const find = async (query: Record<string, string>, at = `/projects/${id}/search`, call = app.root) =>
  bodyOf(
    await call(`GET ${at}`, { query: new URLSearchParams({ scope: 'blobs', ...query }).toString() }),
    200,
  );
const placesOf = (found: { path: string; startline: number }[]): string[] =>
  found.map(({ path, startline }) => `${path}:${startline}`);

test('places in files, with the lines around them, then files by name', async () => {
  const found = await find({ search: 'NEEDLE' });
  expect(placesOf(found)).toEqual(
    ['old.txt:1', 'src/main.ts:2', 'src/main.ts:13', 'binary.dat:1', 'docs/needle-notes.md:1'].filter(
      (place) => !place.startsWith('binary'),
    ),
  );
  expect(found[1]).toEqual({
    basename: 'src/main',
    data: 'line 2\nline 3\na Needle here\nline 5\nneedle again\nline 7\nline 8\n',
    path: 'src/main.ts',
    filename: 'src/main.ts',
    id: null,
    ref: 'main',
    startline: 2,
    project_id: id,
  });
  expect(found.at(-1)).toMatchObject({ data: 'first\nsecond\n', basename: 'docs/needle-notes' });
  expect(await find({ search: 'needle' }, `/projects/${id}/-/search`)).toEqual(found);
});

test('the text is nothing but text: no pattern, no option, no path', async () => {
  const cases: [search: string, places: string[]][] = [
    ['n..dle', []],
    ['--option', ['src/largé.md:1']],
    ['-e', []],
    ['-O/bin/sh', []],
    ['--open-files-in-pager=touch', []],
    ['größe', ['src/largé.md:1']],
    ['café', ['latin.txt:1']],
    ['magic', [':(glob)*:1']],
    ['needle\nmagic', []],
    ['third\tneedle', []],
  ];
  for (const [search, places] of cases)
    expect([search, placesOf(await find({ search }))]).toEqual([search, places]);
});

test('filters narrow by name, path and ending', async () => {
  expect(placesOf(await find({ search: 'needle path:src' }))).toEqual(['src/main.ts:2', 'src/main.ts:13']);
  expect(placesOf(await find({ search: 'needle -extension:ts -filename:old.txt' }))).toEqual([
    'docs/needle-notes.md:1',
  ]);
  expect(placesOf(await find({ search: 'filename:*.md' }))).toEqual([
    'docs/needle-notes.md:1',
    'src/largé.md:1',
  ]);
});

test('another ref, one that is none, and pages', async () => {
  expect(placesOf(await find({ search: 'feature needle', ref: 'feature' }))).toEqual(['only-here.txt:1']);
  expect((await find({ search: 'third', ref: head }))[0].ref).toBe(head);
  for (const ref of ['nowhere', '--all', '-O', 'main:src', '$(id)']) {
    const { status, body } = await app.root(`GET /projects/${id}/search`, {
      query: new URLSearchParams({ scope: 'blobs', search: 'needle', ref }).toString(),
    });
    expect([ref, status, body.message]).toEqual([ref, 404, '404 Commit Not Found']);
  }
  const page = await app.root(`GET /projects/${id}/search`, {
    query: 'scope=blobs&search=needle&per_page=2&page=2',
  });
  expect(placesOf(page.body)).toEqual(['src/main.ts:13', 'docs/needle-notes.md:1']);
  expect(page.headers.get('x-total')).toBe('4');
});

test('commits by message and by id', async () => {
  const commits = await find({ scope: 'commits', search: 'COMMIT 2' });
  expect(commits).toHaveLength(1);
  expect(commits[0]).toMatchObject({ id: head, title: 'Commit 2', project_id: id });
  expect(await find({ scope: 'commits', search: head.slice(0, 10) })).toEqual(commits);
  expect(await find({ scope: 'commits', search: head })).toEqual(commits);
  expect(await find({ scope: 'commits', search: 'commit', per_page: '1' })).toHaveLength(1);
  for (const search of ['^Commit', '.*', '--all', 'x\n', '-1'])
    expect(await find({ scope: 'commits', search })).toEqual([]);
  const page = await app.root(`GET /projects/${id}/search`, {
    query: 'scope=commits&search=commit&per_page=1',
  });
  expect([page.headers.get('x-total'), page.headers.get('x-next-page')]).toEqual(['2', '2']);
});

test('pages of the wiki', async () => {
  const place = await projectWikiParent(app);
  await pushPages(app, place, { 'home.md': 'Welcome, needle\n', 'needle.md': 'Nothing\n' });
  const found = await find({ scope: 'wiki_blobs', search: 'needle' }, `/projects/${place.id}/search`);
  expect(placesOf(found)).toEqual(['home.md:1', 'needle.md:1']);
  expect(found[0]).toMatchObject({
    ref: 'main',
    basename: 'home',
    data: 'Welcome, needle\n',
    project_id: place.id,
  });
  expect(await find({ search: 'needle' }, `/projects/${place.id}/search`)).toEqual([]);
  expect(await find({ scope: 'wiki_blobs', search: 'needle' })).toEqual([]);
});

test('code is found by who reads it, and by nobody where it is turned off', async () => {
  const project = await makeProject(app, { visibility: 'public' });
  await fillProject(app, project.id, [{ 'a.txt': 'needle\n' }]);
  const outsider = await makeUser(app);
  const { guest, reporter } = await makeMembers(app, `projects/${project.id}`, 'guest', 'reporter');
  const at = `/projects/${project.id}/search`;
  const counts = async () => {
    const found: number[] = [];
    for (const scope of ['blobs', 'commits'])
      for (const call of [app.call, app.as(outsider.token), app.as(guest.token), app.as(reporter.token)])
        found.push((await find({ scope, search: scope === 'blobs' ? 'needle' : 'commit' }, at, call)).length);
    return found.join(' ');
  };
  expect(await counts()).toBe('1 1 1 1 1 1 1 1');
  const put = (body: object) => app.root(`PUT /projects/${project.id}`, { body });
  bodyOf(await put({ repository_access_level: 'private' }), 200);
  expect(await counts()).toBe('0 0 0 1 0 0 0 1');
  bodyOf(await put({ repository_access_level: 'disabled' }), 200);
  expect(await counts()).toBe('0 0 0 0 0 0 0 0');
});
