/** Commits, files, picks and submodules through the API, as clients send them. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Called, useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeUser,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';
import { gitText } from '../../../platform/git/program/program.ts';
import { projectRepository } from '../store/containers.ts';

const ashlar = useApp();
let maintainer: MadeUser;
let developer: MadeUser;
let reporter: MadeUser;

type Repository = { id: number; base: string };
/** Repositories that every refused request leaves as they are: one with `a` and `d/e`, one with nothing. */
let shared: Repository;
let empty: Repository;

beforeAll(async () => {
  [maintainer, developer, reporter] = await Promise.all([
    makeUser(ashlar, { name: 'Mary Maintainer' }),
    makeUser(ashlar, { name: 'Dev Eloper' }),
    makeUser(ashlar),
  ]);
  shared = await makeRepository({ a: '1\n', 'd/e': '2\n' });
  empty = await makeRepository({});
});

/** A project with the three as members and these files on `main`. */
async function makeRepository(
  files: Record<string, string> = { 'README.md': 'hello\n' },
): Promise<Repository> {
  const { id } = await makeProject(ashlar);
  await addMember(ashlar, `projects/${id}`, maintainer, 40);
  await addMember(ashlar, `projects/${id}`, developer, 30);
  await addMember(ashlar, `projects/${id}`, reporter, 20);
  const base = `/projects/${id}/repository`;
  const actions = Object.entries(files).map(([file_path, content]) => ({
    action: 'create',
    file_path,
    content,
  }));
  if (actions.length > 0) bodyOf(await commit({ id, base }, actions), 201);
  return { id, base };
}

const commit = (
  { base }: Repository,
  actions: unknown[],
  more: Record<string, unknown> = {},
  token = maintainer.token,
) =>
  ashlar.as(token)(`POST ${base}/commits`, {
    body: { branch: 'main', commit_message: 'Change', actions, ...more },
  });

const refused = [403, '403 Forbidden - You are not allowed to push into this branch'];

const folderOf = ({ id }: Repository): string =>
  ashlar.app.services.repositories.folder(projectRepository(id), 'default');
const gitIn = (repository: Repository, ...args: string[]): Promise<string> =>
  gitText(args, { folder: folderOf(repository) });
const contentAt = (repository: Repository, path: string, branch = 'main'): Promise<string> =>
  gitIn(repository, 'show', `${branch}:${path}`);
const filesOn = async (repository: Repository, branch = 'main'): Promise<string[]> =>
  (await gitIn(repository, 'ls-tree', '-r', '--name-only', branch)).trim().split('\n');

describe('POST commits', () => {
  test('makes the first commit of an empty project, its default branch, and events', async () => {
    const repository = await makeRepository({});
    const made = bodyOf(
      await commit(repository, [{ action: 'create', file_path: 'a/b.txt', content: 'one\ntwo\n' }]),
      201,
    );
    expect(made).toMatchObject({
      title: 'Change',
      message: 'Change',
      parent_ids: [],
      author_name: 'Mary Maintainer',
      committer_email: `${maintainer.username}@example.com`,
      stats: { additions: 2, deletions: 0, total: 2 },
      status: null,
      project_id: repository.id,
      last_pipeline: null,
    });
    expect(await contentAt(repository, 'a/b.txt')).toBe('one\ntwo\n');
    const project = bodyOf(await ashlar.root(`GET /projects/${repository.id}`), 200);
    expect(project).toMatchObject({ empty_repo: false, default_branch: 'main' });
    const [event] = await ashlar.app.services.database.sql<{ details: unknown }[]>`
      select details from activity_events where project_id = ${repository.id} and action = 'pushed'`;
    expect(event?.details).toMatchObject({
      push_data: { action: 'created', ref: 'main', commit_count: 1, commit_to: made.id },
    });
  });

  test('takes all five actions at once, in their order', async () => {
    const repository = await makeRepository({ a: '1\n', b: '2\n', c: '3\n', d: '4\n' });
    const made = bodyOf(
      await commit(repository, [
        {
          action: 'create',
          file_path: 'new/e',
          content: Buffer.from([0, 255]).toString('base64'),
          encoding: 'base64',
        },
        { action: 'update', file_path: 'a', content: 'one\n' },
        { action: 'move', file_path: 'moved/b', previous_path: 'b' },
        { action: 'delete', file_path: 'c' },
        { action: 'chmod', file_path: 'd', execute_filemode: true },
      ]),
      201,
    );
    expect(made.parent_ids).toHaveLength(1);
    expect(await filesOn(repository)).toEqual(['a', 'd', 'moved/b', 'new/e']);
    expect(await contentAt(repository, 'a')).toBe('one\n');
    expect(await gitIn(repository, 'ls-tree', 'main', 'd')).toMatch(/^100755 /);
    expect(await gitIn(repository, 'cat-file', '-s', 'main:new/e')).toBe('2\n');
  });

  test('reads forms, whose actions come in order', async () => {
    const repository = await makeRepository({ a: '1\n' });
    const form: [string, string][] = [
      ['branch', 'main'],
      ['commit_message', 'By a form'],
      ['actions[][action]', 'create'],
      ['actions[][file_path]', 'x y'],
      ['actions[][content]', 'plus + and\nline'],
      ['actions[][action]', 'delete'],
      ['actions[][file_path]', 'a'],
    ];
    const text = new URLSearchParams(form).toString();
    bodyOf(await ashlar.as(maintainer.token)(`POST ${repository.base}/commits`, { form: text }), 201);
    expect(await filesOn(repository)).toEqual(['x y']);
    expect(await contentAt(repository, 'x y')).toBe('plus + and\nline');

    const parts = [...form.slice(0, 3), ['actions[][file_path]', 'z'], ['actions[][content]', 'Z']];
    const multipart = parts.map(
      ([name, value]) => `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    );
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    bodyOf(
      await ashlar.as(maintainer.token)(`POST ${repository.base}/commits`, {
        form: `${multipart.join('')}--x--\r\n`,
        headers,
      }),
      201,
    );
    expect(await contentAt(repository, 'z')).toBe('Z');
  });

  test('starts a new branch from another one, or from a commit; an old one only by force', async () => {
    const repository = await makeRepository({ a: '1\n' });
    const first = (await gitIn(repository, 'rev-parse', 'main')).trim();
    bodyOf(await commit(repository, [{ action: 'update', file_path: 'a', content: '2\n' }]), 201);
    const create = (file_path: string) => [{ action: 'create', file_path, content: '' }];
    bodyOf(await commit(repository, create('b'), { branch: 'topic/one', start_branch: 'main' }), 201);
    const early = bodyOf(await commit(repository, create('b'), { branch: 'early', start_sha: first }), 201);
    expect(early.parent_ids).toEqual([first]);
    expect(await contentAt(repository, 'a', 'early')).toBe('1\n');
    const again = { branch: 'early', start_branch: 'main' };
    expect(bodyOf(await commit(repository, create('c'), again), 400).message).toMatch(
      /^A branch called 'early' already exists/,
    );
    bodyOf(await commit(repository, create('c'), { ...again, force: true }), 201);
    expect(await filesOn(repository, 'early')).toEqual(['a', 'c']);
    const rewrite = await commit(repository, create('c'), { start_sha: first, force: true });
    expect(bodyOf(rewrite, 403).message).toMatch(/force push/);
  });

  test('a message is no longer than one that can be read', async () => {
    const action = [{ action: 'create', file_path: 'long', content: '' }];
    const of = (length: number) =>
      commit(shared, action, {
        branch: 'long',
        start_branch: 'main',
        commit_message: 'é'.repeat(length / 2),
      });
    const before = await gitIn(shared, 'for-each-ref');
    expect(bodyOf(await of(1_048_576), 422).message).toBe('The commit would be too large.');
    expect(await gitIn(shared, 'for-each-ref')).toBe(before);
    const { id, message } = bodyOf(await of(1_047_000), 201);
    expect(bodyOf(await ashlar.root(`GET ${shared.base}/commits/${id}`), 200).message).toBe(message);
  });

  test.each<[what: string, actions: unknown[], more: Record<string, unknown>, message: string]>([
    [
      'a file that is there',
      [{ action: 'create', file_path: 'a', content: '' }],
      {},
      'A file with this name already exists',
    ],
    [
      'a folder that is there',
      [{ action: 'create', file_path: 'd', content: '' }],
      {},
      'A directory with this name already exists',
    ],
    [
      'below a file',
      [{ action: 'create', file_path: 'a/b', content: '' }],
      {},
      'A file with this name already exists',
    ],
    [
      'an update of nothing',
      [{ action: 'update', file_path: 'x', content: '' }],
      {},
      "A file with this name doesn't exist",
    ],
    [
      'a deletion of nothing',
      [{ action: 'delete', file_path: 'x' }],
      {},
      "A file with this name doesn't exist",
    ],
    [
      'a deletion of a folder',
      [{ action: 'delete', file_path: 'd' }],
      {},
      "A file with this name doesn't exist",
    ],
    ['no path', [{ action: 'create', content: '' }], {}, 'You must provide a file path'],
    ['a move from nowhere', [{ action: 'move', file_path: 'x' }], {}, 'You must provide a file path'],
    [
      'a move onto a file',
      [{ action: 'move', file_path: 'a', previous_path: 'd/e' }],
      {},
      'A file with this name already exists',
    ],
    [
      'no branch',
      [{ action: 'create', file_path: 'x', content: '' }],
      { branch: 'none' },
      'You can only create or edit files when you are on a branch',
    ],
    [
      'no start branch',
      [{ action: 'create', file_path: 'x', content: '' }],
      { branch: 'new', start_branch: 'none' },
      'You can only create or edit files when you are on a branch',
    ],
    [
      'another project',
      [{ action: 'create', file_path: 'x', content: '' }],
      { start_project: 999_999 },
      'A commit can only start from the project itself',
    ],
    [
      'no base64',
      [{ action: 'create', file_path: 'x', content: '<>', encoding: 'base64' }],
      {},
      'The content is not base64',
    ],
    [
      'a dangerous .gitmodules',
      [
        {
          action: 'create',
          file_path: '.gitmodules',
          content: '[submodule "x"]\n\tpath = x\n\turl = --upload-pack=touch\n',
        },
      ],
      {},
      'Rejected by git: gitmodulesUrl: disallowed submodule url: --upload-pack=touch',
    ],
  ])('refuses %s', async (_, actions, more, message) => {
    const repository = shared;
    const before = await gitIn(repository, 'for-each-ref');
    const response = await commit(repository, actions, more);
    expect([response.status, response.body.message]).toEqual([400, message]);
    expect(await gitIn(repository, 'for-each-ref')).toBe(before);
  });

  test.each([
    '.git/config',
    '..',
    '../x',
    'a/../b',
    '/etc/passwd',
    'a//b',
    '.GIT/hooks/x',
    'a\u0007b',
    'git~1',
    'x/',
    '.',
  ])('refuses the path %j', async (file_path) => {
    const response = await commit(empty, [{ action: 'create', file_path, content: '' }]);
    expect([response.status, response.body.message]).toEqual([400, 'The file path is not valid']);
  });

  test.each([
    '--upload-pack=x',
    'HEAD',
    'a'.repeat(40),
    '../x',
    'a b',
    'a..b',
    'refs/heads/x',
    '-x',
    'x.lock',
    'a\u0001',
  ])('refuses the branch %j', async (branch) => {
    const response = await commit(empty, [], { branch });
    expect([response.status, response.body.message]).toEqual([400, 'Branch name is invalid']);
  });

  test('a name of nothing but brackets is no harm', async () => {
    const repository = await makeRepository({});
    const made = bodyOf(
      await commit(repository, [{ action: 'create', file_path: 'a', content: '' }], {
        author_name: '<>',
        author_email: '<\n>',
      }),
      201,
    );
    expect(made.committer_name).toBe('Mary Maintainer');
  });

  test('developers write where nothing is protected, reporters nowhere', async () => {
    const repository = await makeRepository();
    const create = [{ action: 'create', file_path: 'x', content: '' }];
    const refusal = (response: Called) => [response.status, response.body.message];
    expect(refusal(await commit(repository, create, {}, developer.token))).toEqual(refused);
    // Authorization comes before all other refusals.
    const wrong = [{ action: 'update', file_path: 'none', content: '' }];
    expect(refusal(await commit(repository, wrong, {}, developer.token))).toEqual(refused);
    const { id } = bodyOf(await ashlar.root(`GET ${repository.base}/commits/main`), 200);
    const body = { branch: 'main', dry_run: true };
    for (const verb of ['cherry_pick', 'revert'])
      expect(
        refusal(await ashlar.as(developer.token)(`POST ${repository.base}/commits/${id}/${verb}`, { body })),
      ).toEqual(refused);
    expect(
      (await commit(repository, create, { branch: 'own', start_branch: 'main' }, developer.token)).status,
    ).toBe(201);
    expect(refusal(await commit(repository, create, { branch: 'own' }, reporter.token))).toEqual(refused);
    const stranger = await makeUser(ashlar);
    expect((await commit(repository, create, {}, stranger.token)).status).toBe(404);
  });
});

test('nothing is written while the repository moves, nor after the project is archived', async () => {
  const repository = await makeRepository();
  const { sql } = ashlar.app.services.database;
  const create = [{ action: 'create', file_path: 'x', content: '' }];
  await sql`update projects set repository_read_only = true where id = ${repository.id}`;
  const moving = await commit(repository, create);
  expect([moving.status, moving.body.message]).toEqual([
    403,
    'The repository is temporarily read-only. Please try again later.',
  ]);
  await sql`update projects set repository_read_only = false where id = ${repository.id}`;
  bodyOf(await ashlar.root(`POST /projects/${repository.id}/archive`), 201);
  const archived = await commit(repository, create);
  expect([archived.status, archived.body.message]).toEqual(refused);
  const file = { branch: 'main', commit_message: 'x', content: 'x' };
  for (const method of ['POST', 'PUT', 'DELETE']) {
    const response = await ashlar.as(maintainer.token)(`${method} ${repository.base}/files/README.md`, {
      body: file,
    });
    expect([method, response.status, response.body.message]).toEqual([method, ...refused]);
  }
  expect(await filesOn(repository)).toEqual(['README.md']);
});

describe('files', () => {
  const file = (
    repository: Repository,
    method: string,
    path: string,
    body: unknown,
    token = maintainer.token,
  ) => ashlar.as(token)(`${method} ${repository.base}/files/${encodeURIComponent(path)}`, { body });
  const wish = { branch: 'main', commit_message: 'One file' };

  test('are created, changed and deleted', async () => {
    const repository = await makeRepository();
    const path = 'deep/er/file name.txt';
    expect(bodyOf(await file(repository, 'POST', path, { ...wish, content: 'a' }), 201)).toEqual({
      file_path: path,
      branch: 'main',
    });
    const changed = { ...wish, content: 'Yg==', encoding: 'base64', execute_filemode: true };
    bodyOf(await file(repository, 'PUT', path, changed), 200);
    expect(await contentAt(repository, path)).toBe('b');
    expect(await gitIn(repository, 'ls-tree', '-r', 'main', 'deep')).toMatch(/^100755 /);
    const removed = await file(repository, 'DELETE', path, { ...wish });
    expect([removed.status, removed.text]).toEqual([204, '']);
    expect(await filesOn(repository)).toEqual(['README.md']);
  });

  test('that changed since the client looked are left alone', async () => {
    const repository = await makeRepository({ a: '1\n', b: '1\n' });
    const first = (await gitIn(repository, 'rev-parse', 'main')).trim();
    bodyOf(await commit(repository, [{ action: 'update', file_path: 'a', content: '2\n' }]), 201);
    const known = { ...wish, last_commit_id: first };
    expect(bodyOf(await file(repository, 'PUT', 'a', { ...known, content: '3' }), 400).message).toBe(
      'You are attempting to update a file that has changed since you started editing it.',
    );
    expect(bodyOf(await file(repository, 'DELETE', 'a', known), 400).message).toBe(
      'You are attempting to delete a file that has been previously updated.',
    );
    bodyOf(await file(repository, 'PUT', 'b', { ...known, content: '3' }), 200);
    expect(await contentAt(repository, 'a')).toBe('2\n');
  });

  test('and If-Unmodified-Since before the last change is 412', async () => {
    const repository = await makeRepository();
    const headers = { 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' };
    const response = await ashlar.as(maintainer.token)(`DELETE ${repository.base}/files/README.md`, {
      body: wish,
      headers,
    });
    expect(response.status).toBe(412);
    expect(await filesOn(repository)).toEqual(['README.md']);
  });
});

describe('cherry-pick and revert', () => {
  const pick = (repository: Repository, sha: string, verb: string, body: Record<string, unknown>) =>
    ashlar.as(maintainer.token)(`POST ${repository.base}/commits/${sha}/${verb}`, { body });

  test('repeat a commit elsewhere in its author’s name, and take it back', async () => {
    const repository = await makeRepository({ a: '1\n2\n3\n' });
    const other = { branch: 'other', start_branch: 'main' };
    const change = [{ action: 'update', file_path: 'a', content: '1\n2\nthree\n' }];
    const made = bodyOf(
      await commit(repository, change, { ...other, author_name: 'Grace', author_email: 'grace@example.org' }),
      201,
    );
    bodyOf(await commit(repository, [{ action: 'create', file_path: 'b', content: 'b' }]), 201);
    const tried = await pick(repository, made.id, 'cherry_pick', { branch: 'main', dry_run: true });
    expect([tried.status, tried.body]).toEqual([200, { dry_run: 'success' }]);
    expect(await contentAt(repository, 'a')).toBe('1\n2\n3\n');
    const picked = bodyOf(await pick(repository, made.short_id, 'cherry_pick', { branch: 'main' }), 201);
    expect(picked).toMatchObject({
      author_name: 'Grace',
      committer_name: 'Mary Maintainer',
      message: `Change\n\n(cherry picked from commit ${made.id})`,
    });
    expect(await contentAt(repository, 'a')).toBe('1\n2\nthree\n');
    expect(await contentAt(repository, 'b')).toBe('b');
    const again = bodyOf(await pick(repository, made.id, 'cherry_pick', { branch: 'main' }), 400);
    expect(again.error_code).toBe('empty');
    const reverted = bodyOf(await pick(repository, picked.id, 'revert', { branch: 'main' }), 201);
    expect(reverted.message).toBe(`Revert "Change"\n\nThis reverts commit ${picked.id}`);
    expect(await contentAt(repository, 'a')).toBe('1\n2\n3\n');
  });

  test('tell of conflicts, and of what is missing', async () => {
    const repository = await makeRepository({ a: '1\n' });
    const change = (content: string) => [{ action: 'update', file_path: 'a', content }];
    const other = bodyOf(
      await commit(repository, change('2\n'), { branch: 'other', start_branch: 'main' }),
      201,
    );
    bodyOf(await commit(repository, change('3\n')), 201);
    const clash = bodyOf(await pick(repository, other.id, 'cherry_pick', { branch: 'main' }), 400);
    expect(clash).toEqual({
      message:
        'Sorry, we cannot cherry-pick this commit automatically. This commit may already have been cherry-picked, or a more recent commit may have updated some of its content.',
      error_code: 'conflict',
    });
    expect(bodyOf(await pick(repository, other.id, 'revert', { branch: 'none' }), 404).message).toBe(
      '404 Branch Not Found',
    );
    expect(bodyOf(await pick(repository, 'f'.repeat(40), 'revert', { branch: 'main' }), 404).message).toBe(
      '404 Commit Not Found',
    );
  });

  test('a first commit can be taken back', async () => {
    const repository = await makeRepository({ a: '1\n' });
    const first = (await gitIn(repository, 'rev-parse', 'main')).trim();
    bodyOf(await commit(repository, [{ action: 'create', file_path: 'b', content: 'b' }]), 201);
    bodyOf(await pick(repository, first, 'revert', { branch: 'main' }), 201);
    expect(await filesOn(repository)).toEqual(['b']);
  });
});

describe('submodules', () => {
  test('are pointed to another commit', async () => {
    const repository = await makeRepository();
    const [before, after] = ['1'.repeat(40), '2'.repeat(40)];
    const head = (await gitIn(repository, 'rev-parse', 'main')).trim();
    const stream = `commit refs/heads/main\ncommitter A <a@b.c> 1700000000 +0000\ndata 1\nx\nfrom ${head}\nM 160000 ${before} libs/one\n`;
    await gitText(['fast-import', '--quiet', '--force'], { folder: folderOf(repository), input: stream });
    const update = (body: Record<string, unknown>, path = 'libs/one') =>
      ashlar.as(maintainer.token)(`PUT ${repository.base}/submodules/${encodeURIComponent(path)}`, {
        body: { branch: 'main', ...body },
      });
    const made = bodyOf(await update({ commit_sha: after }), 200);
    expect(made.message).toBe(`Update submodule libs/one with oid ${after}`);
    expect(await gitIn(repository, 'ls-tree', 'main', 'libs/')).toMatch(`160000 commit ${after}`);
    expect(bodyOf(await update({ commit_sha: after }), 400).message).toMatch(/already at/);
    expect(bodyOf(await update({ commit_sha: after }, 'README.md'), 400).message).toBe(
      'Invalid submodule path',
    );
    expect((await update({ commit_sha: '--help' })).status).toBe(400);
  });
});
