/** Many writes at once in one repository, and very many refs: no acknowledged commit is lost, and no response is unclear. */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { projectRepository } from '../../src/domain/repositories/store/containers.ts';
import { gitText } from '../../src/platform/git/program/program.ts';
import { useApp } from '../support/app.ts';
import { bodyOf, makeProject } from '../support/factories.ts';
import { fillProject } from '../support/repositories.ts';

const ashlar = useApp();
const WIDTH = 20;
const many = Array.from({ length: WIDTH }, (_, index) => index);

const folderOf = (id: number): string =>
  ashlar.app.services.repositories.folder(projectRepository(id), 'default');
const gitIn = async (id: number, ...args: string[]): Promise<string[]> =>
  (await gitText(args, { folder: folderOf(id) })).split('\n').filter((line) => line !== '');

/** Locks that git left behind. */
async function locksIn(id: number): Promise<string[]> {
  const files = await readdir(folderOf(id), { recursive: true });
  return files.filter((file) => file.endsWith('.lock'));
}

const LOST = /^Could not update refs\/heads\/\S+\. Please refresh and try again\.$/;
type Answer = Awaited<ReturnType<typeof ashlar.root>>;

/** The winners; every other response must be the refusal of a late one. */
function winnersOf(responses: readonly Answer[], otherwise = LOST): Answer[] {
  const won = responses.filter(({ status }) => status === 201);
  const lost = responses.filter(({ status }) => status !== 201);
  for (const { status, body } of lost) {
    expect(status).toBe(400);
    expect(body.message).toMatch(otherwise);
  }
  expect(won.length).toBeGreaterThan(0);
  return won;
}

const commit = (id: number, file: number, more: Record<string, unknown> = {}) =>
  ashlar.root(`POST /projects/${id}/repository/commits`, {
    body: {
      branch: 'main',
      commit_message: `File ${file}`,
      actions: [{ action: 'create', file_path: `file-${file}`, content: `${file}` }],
      ...more,
    },
  });

describe('twenty at once', () => {
  test('commits to one branch: each that was made is in its history', async () => {
    const { id } = await makeProject(ashlar);
    await fillProject(ashlar, id);
    const won = winnersOf(await Promise.all(many.map((file) => commit(id, file))));
    const history = await gitIn(id, 'rev-list', 'main');
    for (const { body } of won) expect(history).toContain(body.id);
    // The first commit, and not one more than was acknowledged.
    expect(history).toHaveLength(won.length + 1);
    expect(await gitIn(id, 'ls-tree', '-r', '--name-only', 'main')).toHaveLength(won.length + 1);
    expect(await locksIn(id)).toEqual([]);
    await gitIn(id, 'fsck', '--connectivity-only');
  });

  test('commits to branches of their own: all are made', async () => {
    const { id } = await makeProject(ashlar);
    await fillProject(ashlar, id);
    const responses = await Promise.all(
      many.map((file) => commit(id, file, { branch: `b${file}`, start_branch: 'main' })),
    );
    expect(responses.map(({ status }) => status)).toEqual(many.map(() => 201));
    expect(await gitIn(id, 'for-each-ref', 'refs/heads/')).toHaveLength(WIDTH + 1);
    expect(await locksIn(id)).toEqual([]);
  });

  test('first commits of an empty project: it has one default branch, protected once', async () => {
    const { id } = await makeProject(ashlar);
    const won = winnersOf(await Promise.all(many.map((file) => commit(id, file))));
    const history = await gitIn(id, 'rev-list', 'main');
    for (const { body } of won) expect(history).toContain(body.id);
    const project = bodyOf(await ashlar.root(`GET /projects/${id}`), 200);
    expect(project).toMatchObject({ default_branch: 'main', empty_repo: false });
    const rules = await ashlar.app.services.database.sql`
      select id from protected_branches where project_id = ${id}`;
    expect(rules).toHaveLength(1);
  });

  test('creations of one branch, and of one tag: one is made', async () => {
    const { id } = await makeProject(ashlar);
    await fillProject(ashlar, id);
    const branches = many.map(() =>
      ashlar.root(`POST /projects/${id}/repository/branches`, { body: { branch: 'x', ref: 'main' } }),
    );
    const lostBranch = /^(Branch already exists|Could not update refs\/heads\/x\. .*)$/;
    expect(winnersOf(await Promise.all(branches), lostBranch)).toHaveLength(1);
    const tags = many.map((index) =>
      ashlar.root(`POST /projects/${id}/repository/tags`, {
        body: { tag_name: 'x', ref: 'main', message: `Tag ${index}` },
      }),
    );
    const lostTag = /^(Tag x already exists|Could not update refs\/tags\/x\. .*)$/;
    expect(winnersOf(await Promise.all(tags), lostTag)).toHaveLength(1);
    expect(await locksIn(id)).toEqual([]);
  });

  test('deletions of a branch while others write to it: what came last is what is there', async () => {
    const { id } = await makeProject(ashlar);
    await fillProject(ashlar, id);
    bodyOf(await commit(id, 99, { branch: 'x', start_branch: 'main' }), 201);
    const responses = await Promise.all(
      many.map((file) =>
        file % 4 === 0
          ? ashlar.root(`DELETE /projects/${id}/repository/branches/x`)
          : commit(id, file, { branch: 'x' }),
      ),
    );
    for (const { status } of responses) expect([201, 204, 400, 404]).toContain(status);
    const deleted = responses.filter(({ status }) => status === 204);
    expect(deleted.length).toBeLessThanOrEqual(1);
    const left = await gitIn(id, 'for-each-ref', 'refs/heads/x');
    expect(left).toHaveLength(1 - deleted.length);
    expect(await locksIn(id)).toEqual([]);
  });

  test('protections of one branch: one rule is left', async () => {
    const { id } = await makeProject(ashlar);
    await fillProject(ashlar, id);
    const responses = await Promise.all(
      many.map((index) =>
        ashlar.root(`PUT /projects/${id}/repository/branches/main/protect`, {
          body: { developers_can_push: index % 2 === 0 },
        }),
      ),
    );
    expect(responses.map(({ status }) => status)).toEqual(many.map(() => 200));
    const grants = await ashlar.app.services.database.sql`
      select a.action from protected_ref_access a join protected_branches b on b.id = a.protected_branch_id
      where b.project_id = ${id} order by 1`;
    expect(grants.map(({ action }) => action)).toEqual(['merge', 'push']);
  });
});

test('a hundred thousand branches are listed in pages, searched, and deleted at once when they are merged', {
  timeout: 600_000,
}, async () => {
  const { id } = await makeProject(ashlar);
  const head = await fillProject(ashlar, id, [{ a: '1' }, { a: '2' }]);
  const [first = ''] = await gitIn(id, 'rev-parse', 'main~1');
  const name = (index: number): string => `b-${String(index).padStart(6, '0')}`;
  const lines = Array.from({ length: 100_000 }, (_, index) => `${first} refs/heads/${name(index)}\n`);
  const header = '# pack-refs with: peeled fully-peeled sorted \n';
  // `main` is a loose ref beside them.
  await writeFile(join(folderOf(id), 'packed-refs'), header + lines.join(''));

  const list = (query: string) => ashlar.root(`GET /projects/${id}/repository/branches`, { query });
  const page = await list('per_page=100');
  expect(page.body).toHaveLength(100);
  expect(page.body[7]).toMatchObject({ name: name(7), merged: true });
  expect(page.headers.get('x-total')).toBeNull();
  expect(page.headers.get('x-next-page')).toBe('2');
  const behind = await list(`pagination=keyset&per_page=3&page_token=${name(99_997)}`);
  expect(behind.body.map((each: { name: string }) => each.name)).toEqual([
    name(99_998),
    name(99_999),
    'main',
  ]);
  expect((await list('search=099999')).body).toHaveLength(1);
  expect((await list('regex=7777%24')).body).toHaveLength(10);
  // A run of git has so many seconds: a busy machine may need another.
  const newest = async () => (await list('sort=updated_desc&per_page=1')).body[0]?.commit.id;
  await expect.poll(newest, { timeout: 300_000 }).toBe(head);

  const gone = await ashlar.root(`DELETE /projects/${id}/repository/merged_branches`);
  expect(gone.status).toBe(202);
  expect(await gitIn(id, 'for-each-ref', '--format=%(refname)')).toEqual(['refs/heads/main']);
});
