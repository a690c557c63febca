/** Small pushes whose objects unpack to very much: every read is refused or truncated, in bounded memory, and others go on. */
import { describe, expect, test } from 'vitest';
import { ROOT_TOKEN, useApp } from '../../../test/support/app.ts';
import { bodyOf, type MadeProject, makeProject } from '../../../test/support/factories.ts';
import {
  deltaUponLarge,
  endlessFolders,
  endlessTree,
  type Hostile,
  largeCommits,
  largeFiles,
  longMessages,
  manyLines,
  pushHostile,
  upon,
  wideFolder,
} from '../../../test/support/hostile-objects.ts';
import { sendRaw } from '../../../test/support/raw-http.ts';
import { readRef } from '../../platform/git/refs.ts';

const ashlar = useApp();

const push = (path: string, hostile: Hostile, before?: string) =>
  pushHostile(ashlar.url, path, ROOT_TOKEN, hostile, before);

const reads = [
  'commits',
  'commits?with_stats=true&per_page=100',
  'commits?path=README.md',
  'commits?all=true&author=Mallory',
  'commits/main',
  'commits/main?stats=false',
  'commits/main/diff',
  'commits/main/refs',
  'commits/main/sequence',
  'commits/main/signature',
  'compare?from=before&to=main',
  'compare?from=before&to=main&straight=true',
  'merge_base?refs[]=before&refs[]=main',
  'branches',
  'branches/main',
  'tree',
  'tree?recursive=true&per_page=100',
  'tree?recursive=true&pagination=none',
  'tree?recursive=true&page=900&per_page=100',
  'tree?path=wide&pagination=keyset&per_page=100',
  'files/README.md?ref=main',
  'files/README.md/raw?ref=main',
  'files/README.md/blame?ref=main',
  'files/README.md/blame?ref=main&range[start]=1&range[end]=2',
  'contributors',
  'archive.tar.gz',
  'archive.zip?path=wide',
  '../languages',
  '../search?scope=blobs&search=small',
  '../search?scope=blobs&search=filename:d1',
  '../search?scope=commits&search=Change',
  '../events',
];

/** A download is aborted after so many bytes. */
const ENOUGH = 4_000_000;

async function read(project: MadeProject, path: string): Promise<number> {
  const url = new URL(`${ashlar.url}/api/v4/projects/${project.id}/repository/${path}`);
  const response = await fetch(url, { headers: { 'private-token': ROOT_TOKEN } });
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > ENOUGH) break;
  }
  return response.status;
}

const changes = [
  'commits?with_stats=true&per_page=100',
  'commits/main',
  'commits/main/diff',
  'compare?from=before&to=main',
  'compare?from=before&to=main&straight=true',
];
const allFiles = ['archive.tar.gz', '../languages', '../search?scope=blobs&search=small'];

/** The endpoints that must refuse the repository; all others succeed, or find nothing. */
const hostile: Record<string, [() => Hostile, string[]]> = {
  largeFiles: [largeFiles, ['files/README.md?ref=main', 'files/README.md/blame?ref=main', 'archive.tar.gz']],
  endlessTree: [endlessTree, [...changes, ...allFiles, 'tree?recursive=true&pagination=none']],
  endlessFolders: [endlessFolders, [...changes, ...allFiles, 'tree?recursive=true&pagination=none']],
  deltaUponLarge: [
    deltaUponLarge,
    [
      'files/README.md?ref=main',
      'files/README.md/raw?ref=main',
      'files/README.md/blame?ref=main',
      '../search?scope=blobs&search=small',
    ],
  ],
  largeCommits: [
    largeCommits,
    [...changes, ...allFiles, 'commits', 'branches', 'tree', 'files/README.md?ref=main'],
  ],
  longMessages: [
    longMessages,
    ['commits', 'compare?from=before&to=main', '../search?scope=commits&search=Change'],
  ],
  wideFolder: [wideFolder, [...changes, ...allFiles, 'tree?path=wide&pagination=keyset&per_page=100']],
  manyLines: [manyLines, ['commits/main', 'files/README.md?ref=main', 'files/README.md/blame?ref=main']],
};

describe.each(Object.entries(hostile))('%s', (_, [make, refused]) => {
  test('is refused or cut short wherever it is read', async () => {
    const project = await makeProject(ashlar);
    await push(project.path_with_namespace, make());
    const found = new Map<string, number>();
    for (const path of reads) found.set(path, await read(project, path));
    expect([...found].filter(([, status]) => ![200, 404, 422].includes(status))).toEqual([]);
    expect(refused.filter((path) => found.get(path) !== 422)).toEqual([]);
    expect(bodyOf(await ashlar.root(`GET /projects/${project.id}`), 200)).toMatchObject({
      empty_repo: false,
    });
  });
});

test('what is too large for a part of an answer is left out of it', async () => {
  const project = await makeProject(ashlar);
  await push(project.path_with_namespace, largeFiles(130, 3));
  const files = bodyOf(await ashlar.root(`GET /projects/${project.id}/repository/commits/main/diff`), 200);
  expect(files.length).toBeGreaterThan(3);
  // git keeps the whole of an added or removed file in memory: from there on patches are left out.
  for (const { diff, collapsed } of files)
    expect(collapsed ? 'left out' : diff).toMatch(/^(left out|Binary files )/);
  const { body } = await ashlar.root(`GET /projects/${project.id}/search?scope=blobs&search=README`);
  expect(body.map(({ path, data }: { path: string; data: string }) => [path, data])).toEqual([
    ['README.md', ''],
  ]);
});

test('a commit whose lines cannot be counted is made, and answered without them', {
  timeout: 600_000,
}, async () => {
  const project = await makeProject(ashlar);
  await push(project.path_with_namespace, manyLines());
  const actions = [{ action: 'delete', file_path: 'README.md' }];
  const body = { branch: 'main', commit_message: 'Less', actions };
  const path = `/projects/${project.id}/repository`;
  const made = bodyOf(await ashlar.root(`POST ${path}/commits`, { body }), 201);
  expect(made).not.toHaveProperty('stats');
  expect((await ashlar.root(`GET ${path}/commits/${made.id}`)).status).toBe(422);
  expect(bodyOf(await ashlar.root(`GET ${path}/branches/main`), 200).commit.id).toBe(made.id);
});

test('an object that cannot be read fails no other that is asked for at the same time', {
  timeout: 600_000,
}, async () => {
  const project = await makeProject(ashlar);
  await push(project.path_with_namespace, deltaUponLarge());
  const paths = Array.from({ length: 40 }, (_, index) =>
    index % 10 === 0 ? 'files/small.ts?ref=main' : `files/x${index}?ref=before`,
  );
  const statuses = await Promise.all(paths.map((path) => read(project, path)));
  expect(statuses).toEqual(paths.map((path) => (path.includes('small') ? 422 : 200)));
});

test.each([
  ['folders without end', endlessFolders],
  ['a commit that cannot be shown', largeCommits],
])('a push of %s to a snippet is recorded', async (_, make) => {
  const body = { title: 'One', files: [{ file_path: 'a.txt', content: 'a' }] };
  const { id } = bodyOf(await ashlar.root('POST /snippets', { body }), 201);
  const key = { kind: 'snippet', id, wiki: false } as const;
  const { repositories } = ashlar.app.services;
  const before = await repositories.read(key, 'default', (git) => readRef(git, 'refs/heads/main'));
  await push(`snippets/${id}`, upon(before ?? '', make()), before);
  expect(bodyOf(await ashlar.root(`GET /snippets/${id}`), 200).files).toEqual([]);
});

test('blame: a commit of a long message stands before so many groups of lines only', async () => {
  const project = await makeProject(ashlar, { name: 'Alternating' });
  const long = 'm'.repeat(500_000);
  const action = (lines: string, verb: string) => ({
    branch: 'main',
    commit_message: `Change\n\n${long}`,
    actions: [{ action: verb, file_path: 'a', content: lines }],
  });
  const commits = `POST /projects/${project.id}/repository/commits`;
  bodyOf(await ashlar.root(commits, { body: action('a\nb\n'.repeat(20), 'create') }), 201);
  bodyOf(await ashlar.root(commits, { body: action('a\nc\n'.repeat(20), 'update') }), 201);
  const blame = `GET /projects/${project.id}/repository/files/a/blame`;
  const whole = await ashlar.root(blame, { query: 'ref=main' });
  expect([whole.status, whole.body.message]).toEqual([422, expect.stringContaining('range[start]')]);
  const part = await ashlar.root(blame, { query: 'ref=main&range[start]=1&range[end]=16' });
  expect(bodyOf(part, 200)).toHaveLength(16);
});

test('commits: a filter is no longer than a path or a name, in a body too', async () => {
  const project = await makeProject(ashlar, { name: 'Filtered', initialize_with_readme: true });
  const list = `/api/v4/projects/${project.id}/repository/commits`;
  const ask = async (body: object) => {
    const headers = { 'private-token': ROOT_TOKEN, 'content-type': 'application/json' };
    const response = await sendRaw(ashlar.url, `GET ${list}`, { headers, body: JSON.stringify(body) });
    return [response.status, response.status === 200 ? JSON.parse(response.text).length : undefined];
  };
  expect(await ask({ path: '/'.repeat(900_000), ref_name: 'main' })).toEqual([400, undefined]);
  expect(await ask({ author: 'a'.repeat(900_000) })).toEqual([400, undefined]);
  expect(await ask({ author: 'a'.repeat(1_000) })).toEqual([200, 0]);
  expect(await ask({ path: `README.md${'/'.repeat(4_000)}` })).toEqual([200, 1]);
  expect(await ask({ path: `${'/'.repeat(4_000)}a` })).toEqual([200, 0]);
});

test('commits: an author is no longer than a name', async () => {
  const project = await makeProject(ashlar, { name: 'Authored' });
  const ask = async (author: object) => {
    const actions = [{ action: 'create', file_path: `a${JSON.stringify(author).length}`, content: '' }];
    const body = { branch: 'main', commit_message: 'Change', ...author, actions };
    return (await ashlar.root(`POST /projects/${project.id}/repository/commits`, { body })).status;
  };
  expect(await ask({ author_name: 'a'.repeat(255), author_email: 'a'.repeat(255) })).toBe(201);
  expect(await ask({ author_name: 'a'.repeat(256) })).toBe(400);
  expect(await ask({ author_email: 'a\n'.repeat(5_000_000) })).toBe(400);
});
