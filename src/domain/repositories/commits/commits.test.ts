import { beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import {
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';
import { fillProject } from '../../../../test/support/repositories.ts';
import { gitText } from '../../../platform/git/program/program.ts';
import { projectRepository } from '../store/containers.ts';

const app: TestApp = useApp();
let project: MadeProject;
let empty: MadeProject;
let head: string;
let reporter: MadeUser;
let guest: MadeUser;

const folderOf = (id: number): string =>
  app.app.services.repositories.folder(projectRepository(id), 'default');
const inGit = (...args: string[]): Promise<string> => gitText(args, { folder: folderOf(project.id) });
const repository = (id = project.id): string => `/projects/${id}/repository`;
const list = (query = '') => app.root(`GET ${repository()}/commits`, { query });
const titlesOf = (body: { title: string }[]): string[] => body.map(({ title }) => title);

beforeAll(async () => {
  project = await makeProject(app);
  empty = await makeProject(app);
  head = await fillProject(app, project.id, [
    { 'README.md': 'one\n', 'docs/a.md': 'a\n' },
    { 'docs/a.md': 'b\n' },
    { 'README.md': 'one\ntwo\n' },
  ]);
  await fillProject(app, project.id, [{ other: 'x\n' }], 'other');
  await inGit('update-ref', 'refs/tags/v1', 'main~1');
  ({ reporter, guest } = await makeMembers(app, `projects/${project.id}`, 'reporter', 'guest'));
});

describe('the list', () => {
  test('is of the default branch, newest first, in pages with totals', async () => {
    const first = await list('per_page=2');
    expect(titlesOf(bodyOf(first, 200))).toEqual(['Commit 3', 'Commit 2']);
    expect(first.body[0]).toMatchObject({
      id: head,
      short_id: head.slice(0, 8),
      author_name: 'Ada Lovelace',
      web_url: `${app.url}/${project.path_with_namespace}/-/commit/${head}`,
    });
    expect(first.body[0].stats).toBeUndefined();
    expect(first.headers.get('x-next-page')).toBe('2');
    expect(first.headers.get('x-total')).toBe('3');
    const second = await list('per_page=2&page=2');
    expect(titlesOf(second.body)).toEqual(['Commit 1']);
    expect(second.headers.get('x-next-page')).toBe('');
    expect(bodyOf(await list('page=99999999999999'), 200)).toEqual([]);
  });

  test.each([
    ['ref_name=v1', ['Commit 2', 'Commit 1']],
    ['ref_name=main~2', ['Commit 1']],
    ['path=docs', ['Commit 2', 'Commit 1']],
    ['path=docs%2F..%2F..', []],
    ['path=--output%3Dx', []],
    ['author=ada%40example.com', ['Commit 3', 'Commit 2', 'Commit 1']],
    ['author=%5B', []],
    ['since=2023-11-14T22:13:22Z', ['Commit 3']],
    ['until=2023-11-14T22:13:20Z', ['Commit 1']],
    ['since=1900-01-01&until=1950-01-01', []],
    ['order=topo&first_parent=true', ['Commit 3', 'Commit 2', 'Commit 1']],
    ['all=true', ['Commit 3', 'Commit 2', 'Commit 1', 'Commit 1']],
  ])('%s', async (query, titles) => {
    expect(titlesOf(bodyOf(await list(query), 200))).toEqual(titles);
  });

  test('counts lines when asked', async () => {
    const { body } = await list('with_stats=true');
    expect(body.map(({ stats }: { stats: object }) => stats)).toEqual([
      { additions: 1, deletions: 0, total: 1 },
      { additions: 1, deletions: 1, total: 2 },
      { additions: 2, deletions: 0, total: 2 },
    ]);
  });

  test('of an empty repository is empty', async () => {
    expect(bodyOf(await app.root(`GET ${repository(empty.id)}/commits`), 200)).toEqual([]);
  });

  test.each(['--upload-pack=x', 'a..b', 'main...other', 'a%0Ab', 'a%01', 'none', 'a%00', '%5E', '~1'])(
    'a ref named %s is not found, or refused',
    async (ref) => {
      const responses = await Promise.all([
        list(`ref_name=${ref}`),
        app.root(`GET ${repository()}/commits/${ref}`),
        app.root(`GET ${repository()}/commits/${ref}/diff`),
        app.root(`GET ${repository()}/commits/${ref}/statuses`),
        app.root(`GET ${repository()}/compare`, { query: `from=${ref}&to=main` }),
        app.root(`GET ${repository()}/merge_base`, { query: `refs[]=main&refs[]=${ref}` }),
        app.root(`POST /projects/${project.id}/statuses/${ref}`, { body: { state: 'success' } }),
      ]);
      for (const { status } of responses) expect([400, 404]).toContain(status);
    },
  );
});

describe('one commit', () => {
  test('has its stats, and no pipeline before anybody says something', async () => {
    const { body } = await app.root(`GET ${repository()}/commits/main`);
    expect(body).toMatchObject({
      id: head,
      project_id: project.id,
      status: null,
      last_pipeline: null,
      stats: { additions: 1, deletions: 0, total: 1 },
    });
    const without = await app.root(`GET ${repository()}/commits/main`, { query: 'stats=false' });
    expect(without.body.stats).toBeUndefined();
    const { status, body: missing } = await app.root(`GET ${repository()}/commits/${'1'.repeat(40)}`);
    expect([status, missing.message]).toEqual([404, '404 Commit Not Found']);
  });

  test('has a diff in pages', async () => {
    const { body, headers } = await app.root(`GET ${repository()}/commits/main~2/diff`, {
      query: 'per_page=1&page=2&unidiff=true',
    });
    expect(headers.get('x-total')).toBe('2');
    expect(body).toEqual([
      {
        diff: '--- /dev/null\n+++ b/docs/a.md\n@@ -0,0 +1 @@\n+a\n',
        collapsed: false,
        too_large: false,
        new_path: 'docs/a.md',
        old_path: 'docs/a.md',
        a_mode: '0',
        b_mode: '100644',
        new_file: true,
        renamed_file: false,
        deleted_file: false,
        generated_file: false,
      },
    ]);
  });

  test('that is a merge is compared with its first parent', async () => {
    const tree = (await inGit('rev-parse', 'main^{tree}')).trim();
    const folder = folderOf(project.id);
    const who = 'Ada <ada@example.com> 1700000000 +0000';
    const [first, second] = (await inGit('rev-parse', 'main~1', 'main')).trim().split('\n');
    const input = `tree ${tree}\nparent ${first}\nparent ${second}\nauthor ${who}\ncommitter ${who}\n\nMerge\n`;
    const merge = await gitText(['hash-object', '-w', '-t', 'commit', '--stdin'], { folder, input });
    const { body } = await app.root(`GET ${repository()}/commits/${merge.trim()}/diff`);
    expect(body).toMatchObject([{ new_path: 'README.md', diff: '@@ -1 +1,2 @@\n one\n+two\n' }]);
  });

  test('is in refs, has a place in the sequence, and no signature', async () => {
    const refs = (query: string) => app.root(`GET ${repository()}/commits/main~1/refs`, { query });
    const main = { type: 'branch', name: 'main' };
    expect((await refs('')).body).toEqual([main, { type: 'tag', name: 'v1' }]);
    expect((await refs('type=branch')).body).toEqual([main]);
    const paged = await refs('per_page=1');
    expect(paged.body).toEqual([main]);
    expect(paged.headers.get('x-next-page')).toBe('2');
    expect((await app.root(`GET ${repository()}/commits/v1/sequence`)).body).toEqual({ count: 2 });
    const { status, body } = await app.root(`GET ${repository()}/commits/main/signature`);
    expect([status, body.message]).toEqual([404, '404 Signature Not Found']);
  });

  test('that is signed says so', async () => {
    const plain = await inGit('cat-file', 'commit', 'main');
    const signed = plain.replace(
      '\n\n',
      '\ngpgsig -----BEGIN SSH SIGNATURE-----\n x\n -----END SSH SIGNATURE-----\n\n',
    );
    const folder = folderOf(project.id);
    const oid = await gitText(['hash-object', '-w', '-t', 'commit', '--stdin'], { folder, input: signed });
    expect((await app.root(`GET ${repository()}/commits/${oid.trim()}/signature`)).body).toEqual({
      signature_type: 'SSH',
      verification_status: 'unverified',
    });
  });
});

describe('comparing', () => {
  const compare = (query: string, id = project.id) => app.root(`GET ${repository(id)}/compare`, { query });

  test('shows what is new, oldest first', async () => {
    const { body } = await compare('from=main~2&to=main');
    expect(titlesOf(body.commits)).toEqual(['Commit 2', 'Commit 3']);
    expect(body).toMatchObject({ compare_same_ref: false, compare_timeout: false });
    expect(body.commit.id).toBe(head);
    expect(body.diffs.map(({ new_path }: { new_path: string }) => new_path)).toEqual([
      'README.md',
      'docs/a.md',
    ]);
    expect(body.web_url).toMatch(new RegExp(`/-/compare/[0-9a-f]{40}\\.\\.\\.${head}$`));
  });

  test('backwards shows nothing unless straight', async () => {
    const backwards = (await compare('from=main&to=v1')).body;
    expect(backwards).toMatchObject({ commit: null, commits: [], diffs: [] });
    expect((await compare('from=main&to=v1&straight=true')).body.diffs).toHaveLength(1);
    expect((await compare('from=main&to=main')).body.compare_same_ref).toBe(true);
  });

  test('with a fork needs a fork that the caller may read', async () => {
    const fork = await makeProject(app);
    const news = await fillProject(app, fork.id, [{ 'fork.md': 'x\n' }]);
    const unrelated = await compare(`from=main&to=main&from_project_id=${fork.id}`);
    expect([unrelated.status, unrelated.body.message]).toEqual([
      400,
      `Target project id:${fork.id} is not a fork of project id:${project.id}`,
    ]);
    bodyOf(await app.root(`POST /projects/${fork.id}/fork/${project.id}`), 201);
    const straight = await compare(`from=main&to=main&straight=true&from_project_id=${fork.id}`);
    const paths = bodyOf(straight, 200).diffs.map((each: { new_path: string }) => each.new_path);
    expect(paths.sort()).toEqual(['README.md', 'docs/a.md', 'fork.md']);
    expect(straight.body.web_url).toContain(`${news}...${head}`);
    const hidden = await app.as(reporter.token)(`GET ${repository()}/compare`, {
      query: `from=main&to=main&from_project_id=${fork.id}`,
    });
    expect(hidden.status).toBe(404);
  });

  test('finds what commits have in common', async () => {
    const base = (query: string) => app.root(`GET ${repository()}/merge_base`, { query });
    const { body } = await base('refs[]=main&refs[]=v1');
    expect(body.title).toBe('Commit 2');
    const none = await base('refs[]=main&refs[]=other');
    expect([none.status, none.body.message]).toEqual([404, '404 Merge Base Not Found']);
    expect((await base('refs[]=main')).body.message).toBe('Provide at least 2 refs');
    expect((await base('refs[]=main&refs[]=no')).body.message).toBe('Could not find ref: no');
  });
});

describe('comments', () => {
  const path = () => `${repository()}/commits/main/comments`;

  test('are kept with their line', async () => {
    const body = { note: 'Why?', path: 'README.md', line: 2, line_type: 'new' };
    const made = bodyOf(await app.as(reporter.token)(`POST ${path()}`, { body }), 201);
    expect(made).toMatchObject({ ...body, author: { id: reporter.id, username: reporter.username } });
    bodyOf(await app.as(reporter.token)(`POST ${path()}`, { body: { note: 'Ah.', line: 3 } }), 201);
    const listed = await app.root(`GET ${repository()}/commits/${head}/comments`);
    expect(listed.body[0]).toEqual(made);
    expect(listed.body[1]).toMatchObject({ note: 'Ah.', path: null, line: null, line_type: null });
    expect(listed.headers.get('x-total')).toBe('2');
  });

  test.each([
    [{ note: ' ' }, { note: ["can't be blank"] }],
    [{ note: 'x', path: 'README.md' }, '400 Bad request - "line" not given, "line_type" not given'],
  ])('%j is refused', async (body, message) => {
    const response = await app.root(`POST ${path()}`, { body });
    expect([response.status, response.body.message]).toEqual([400, message]);
  });

  test('are not for guests of a private project', async () => {
    expect((await app.as(guest.token)(`POST ${path()}`, { body: { note: 'x' } })).status).toBe(403);
    expect((await app.as(guest.token)(`GET ${path()}`)).status).toBe(403);
    expect((await app.call(`POST ${path()}`, { body: { note: 'x' } })).status).toBe(401);
  });
});

test('code is not for guests of a private project, and others do not see it', async () => {
  const outsider = await makeUser(app);
  for (const path of ['commits', 'commits/main', 'commits/main/diff', 'compare?from=main&to=main'])
    for (const [token, status] of [
      [guest.token, 403],
      [outsider.token, 404],
    ] as const)
      expect((await app.as(token)(`GET ${repository()}/${path}`)).status).toBe(status);
});
