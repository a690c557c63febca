/** Branches and tags through the API. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeUser,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';
import { fillProject } from '../../../../test/support/repositories.ts';
import { folderOf } from '../../../../test/support/sample-repository.ts';

const ashlar = useApp();
let maintainer: MadeUser;
let developer: MadeUser;

beforeAll(async () => {
  [maintainer, developer] = await Promise.all([makeUser(ashlar), makeUser(ashlar)]);
});

type Repository = { id: number; base: string; head: string };

/** A project whose `main` has two commits; the second is `head`. */
async function makeRepository(): Promise<Repository> {
  const { id } = await makeProject(ashlar);
  await addMember(ashlar, `projects/${id}`, maintainer, 40);
  await addMember(ashlar, `projects/${id}`, developer, 30);
  const head = await fillProject(ashlar, id, [{ a: '1' }, { a: '2' }]);
  return { id, base: `/projects/${id}/repository`, head };
}

const name = encodeURIComponent;
const namesOf = (list: { name: string }[]): string[] => list.map((each) => each.name);

describe('branches', () => {
  const create = ({ base }: Repository, branch: string, ref = 'main', token = developer.token) =>
    ashlar.as(token)(`POST ${base}/branches`, { body: { branch, ref } });

  test('are created, shown and deleted', async () => {
    const repository = await makeRepository();
    const call = ashlar.as(developer.token);
    const made = bodyOf(await create(repository, 'topic/ä 1'.replace(' ', '-')), 201);
    expect(made).toMatchObject({
      name: 'topic/ä-1',
      commit: { id: repository.head, title: 'Commit 2' },
      merged: false,
      protected: false,
      can_push: true,
      default: false,
    });
    expect(made.web_url).toMatch(/\/-\/tree\/topic\/%C3%A4-1$/);
    const path = `${repository.base}/branches/${name('topic/ä-1')}`;
    expect(bodyOf(await call(`GET ${path}`), 200)).toEqual(made);
    expect((await call(`HEAD ${path}`)).status).toBe(204);
    const removed = await call(`DELETE ${path}`);
    expect([removed.status, removed.text]).toEqual([204, '']);
    expect((await call(`HEAD ${path}`)).status).toBe(404);
    expect(bodyOf(await call(`GET ${path}`), 404).message).toBe('404 Branch Not Found');
    expect(bodyOf(await call(`DELETE ${path}`), 404).message).toBe('404 Branch Not Found');
    const events = await ashlar.app.services.database.sql<{ action: string }[]>`
      select details -> 'push_data' ->> 'action' as action from activity_events
      where project_id = ${repository.id} and details -> 'push_data' ->> 'ref' = 'topic/ä-1' order by id`;
    expect(events.map(({ action }) => action)).toEqual(['created', 'removed']);
  });

  test.each<[branch: string, ref: string, message: string]>([
    ['main', 'main', 'Branch already exists'],
    ['x', 'none', 'Invalid reference name: none'],
    ['x', '--all', 'Invalid reference name: --all'],
    ['x', 'a\nb', 'Invalid reference name: a\nb'],
    ['HEAD', 'main', 'Branch name is invalid'],
    ['--upload-pack=x', 'main', 'Branch name is invalid'],
    ['f'.repeat(40), 'main', 'Branch name is invalid'],
    ['a..b', 'main', 'Branch name is invalid'],
    ['main/below', 'main', 'Could not update refs/heads/main/below. Please refresh and try again.'],
  ])('%j at %j is refused', async (branch, ref, message) => {
    const response = await create(refusing, branch, ref);
    expect([response.status, response.body.message]).toEqual([400, message]);
  });
  let refusing: Repository;
  beforeAll(async () => {
    refusing = await makeRepository();
  });

  test('come in pages, found by search, expression and order', async () => {
    const repository = await makeRepository();
    for (const branch of ['Feature-b', 'feature/a', 'other', 'z-feature'])
      bodyOf(await create(repository, branch, 'main~1'), 201);
    const call = ashlar.as(developer.token);
    const list = async (query: string) =>
      namesOf(bodyOf(await call(`GET ${repository.base}/branches`, { query }), 200));
    expect(await list('')).toEqual(['Feature-b', 'feature/a', 'main', 'other', 'z-feature']);
    expect(await list('search=%5Efeature')).toEqual(['Feature-b', 'feature/a']);
    expect(await list('search=feature%24')).toEqual(['z-feature']);
    expect(await list(`regex=${name('^[a-z]+$')}`)).toEqual(['main', 'other']);
    expect(await list('sort=updated_desc&per_page=1')).toEqual(['main']);
    const second = await call(`GET ${repository.base}/branches`, { query: 'per_page=2&page=2' });
    expect(namesOf(second.body)).toEqual(['main', 'other']);
    expect(second.headers.get('x-total')).toBe('5');
    expect(second.headers.get('x-next-page')).toBe('3');
    const bad = await call(`GET ${repository.base}/branches`, { query: 'regex=(' });
    expect([bad.status, bad.body.message]).toEqual([400, 'Regex is invalid']);

    const walked: string[] = [];
    let query: string | undefined = 'pagination=keyset&per_page=2';
    for (let page = 0; query !== undefined && page < 9; page++) {
      const response = await call(`GET ${repository.base}/branches`, { query });
      walked.push(...namesOf(response.body));
      query = /\?([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
    }
    expect(walked).toEqual(['Feature-b', 'feature/a', 'main', 'other', 'z-feature']);
    const main = bodyOf(await call(`GET ${repository.base}/branches`, { query: 'search=other' }), 200);
    expect(main[0].merged).toBe(true);
  });

  test('are merged as long as the default branch has what they have', async () => {
    const repository = await makeRepository();
    const call = ashlar.as(maintainer.token);
    const merged = async () => {
      const list = bodyOf(await call(`GET ${repository.base}/branches`), 200);
      const topic = list.find((each: { name: string }) => each.name === 'topic');
      const one = bodyOf(await call(`GET ${repository.base}/branches/topic`), 200);
      return [topic.merged, one.merged];
    };
    const commit = async (branch: string, file_path: string) => {
      const actions = [{ action: 'create', file_path, content: 'x' }];
      const body = { branch, commit_message: file_path, actions };
      bodyOf(await call(`POST ${repository.base}/commits`, { body }), 201);
    };
    bodyOf(await create(repository, 'topic', 'main~1'), 201);
    expect([await merged(), await merged()]).toEqual([
      [true, true],
      [true, true],
    ]);
    await commit('topic', 'b');
    expect([await merged(), await merged()]).toEqual([
      [false, false],
      [false, false],
    ]);
    await commit('main', 'c');
    expect(await merged()).toEqual([false, false]);
    bodyOf(await call(`DELETE ${repository.base}/branches/topic`), 204);
    bodyOf(await create(repository, 'topic', repository.head), 201);
    expect(await merged()).toEqual([true, true]);
  });

  test('of few and of many are listed in the order of git', async () => {
    const repository = await makeRepository();
    const names = ['B', 'a', 'a-b', 'a.b', 'a0', 'z', 'ä', 'é/ü'];
    for (const branch of names) bodyOf(await create(repository, branch), 201);
    const list = async () =>
      namesOf(bodyOf(await ashlar.root(`GET ${repository.base}/branches`, { query: 'per_page=20' }), 200));
    const few = await list();
    expect(few).toHaveLength(names.length + 1);
    const folder = folderOf(ashlar, repository.id);
    // So many files of refs are left to git.
    mkdirSync(join(folder, 'refs', 'keep'));
    for (let made = 0; made <= 200; made++)
      writeFileSync(join(folder, 'refs', 'keep', `r${made}`), `${repository.head}\n`);
    expect(await list()).toEqual(few);
  });

  test('of an empty project are none', async () => {
    const { id } = await makeProject(ashlar);
    const response = await ashlar.root(`GET /projects/${id}/repository/branches`);
    expect([response.status, response.body, response.headers.get('x-total')]).toEqual([200, [], '0']);
    expect((await ashlar.root(`GET /projects/${id}/repository/branches/main`)).status).toBe(404);
  });

  test('that are protected or the default one are not deleted, and merged ones all at once', async () => {
    const repository = await makeRepository();
    const call = ashlar.as(maintainer.token);
    for (const branch of ['old', 'kept', 'same']) bodyOf(await create(repository, branch, 'main~1'), 201);
    bodyOf(await create(repository, 'level'), 201);
    const own = { branch: 'own', start_branch: 'main', commit_message: 'x', actions: [] };
    bodyOf(await call(`POST ${repository.base}/commits`, { body: own }), 201);
    bodyOf(await call(`PUT ${repository.base}/branches/kept/protect`), 200);
    const main = await call(`DELETE ${repository.base}/branches/main`);
    expect([main.status, main.body.message]).toEqual([
      403,
      'The default branch of a project cannot be deleted.',
    ]);
    const refused = await ashlar.as(developer.token)(`DELETE ${repository.base}/branches/kept`);
    expect([refused.status, refused.body.message]).toEqual([
      403,
      expect.stringContaining('Only a project maintainer or owner can delete a protected branch'),
    ]);
    const response = await call(`DELETE ${repository.base}/merged_branches`);
    expect([response.status, response.body]).toEqual([202, { message: '202 Accepted' }]);
    const left = bodyOf(await call(`GET ${repository.base}/branches`), 200);
    expect(namesOf(left)).toEqual(['kept', 'level', 'main', 'own']);
    expect((await call(`DELETE ${repository.base}/branches/kept`)).status).toBe(204);
  });

  test('of an empty project begin with the default branch and its README', async () => {
    const { id } = await makeProject(ashlar);
    await addMember(ashlar, `projects/${id}`, maintainer, 40);
    const base = `/projects/${id}/repository`;
    const empty = { id, base, head: '' };
    const call = ashlar.as(maintainer.token);
    expect(bodyOf(await create(empty, 'x', 'none', maintainer.token), 400).message).toBe(
      'Invalid reference name: none',
    );
    expect(bodyOf(await call(`GET ${base}/branches`), 200)).toEqual([]);
    const made = bodyOf(await create(empty, 'x', 'main', maintainer.token), 201);
    expect(made).toMatchObject({ name: 'x', default: false, protected: false });
    const main = bodyOf(await call(`GET ${base}/branches/main`), 200);
    expect(main).toMatchObject({
      default: true,
      protected: true,
      commit: { id: made.commit.id, message: 'Add README.md' },
    });
    const tree = bodyOf(await call(`GET ${base}/tree`), 200);
    expect(tree).toMatchObject([{ path: 'README.md', type: 'blob' }]);
    expect(bodyOf(await call(`GET ${base}/blobs/${tree[0].id}`), 200).size).toBe(0);
    expect(bodyOf(await call(`GET /projects/${id}`), 200)).toMatchObject({
      default_branch: 'main',
      empty_repo: false,
    });
    expect(bodyOf(await create(empty, 'main', 'main', maintainer.token), 400).message).toBe(
      'Branch already exists',
    );
  });

  test('of an empty project may be the default one itself, and are for those who may push it', async () => {
    const { id } = await makeProject(ashlar, { default_branch: 'trunk' });
    await addMember(ashlar, `projects/${id}`, maintainer, 40);
    await addMember(ashlar, `projects/${id}`, developer, 30);
    const empty = { id, base: `/projects/${id}/repository`, head: '' };
    expect((await create(empty, 'x', 'trunk')).status).toBe(403);
    const made = bodyOf(await create(empty, 'trunk', 'trunk', maintainer.token), 201);
    expect(made).toMatchObject({ name: 'trunk', default: true });
    expect(bodyOf(await create(empty, 'x', 'trunk'), 201).commit.id).toBe(made.commit.id);
  });

  test('heed If-Unmodified-Since', async () => {
    const repository = await makeRepository();
    bodyOf(await create(repository, 'x'), 201);
    const remove = (date: string) =>
      ashlar.as(developer.token)(`DELETE ${repository.base}/branches/x`, {
        headers: { 'if-unmodified-since': date },
      });
    expect((await remove('Mon, 01 Jan 2001 00:00:00 GMT')).status).toBe(412);
    expect((await remove('Fri, 01 Jan 2038 00:00:00 GMT')).status).toBe(204);
  });

  test('are protected and unprotected by maintainers, and let developers in where they say so', async () => {
    const repository = await makeRepository();
    bodyOf(await create(repository, 'x'), 201);
    const path = `${repository.base}/branches/x`;
    const put = (verb: string, body: Record<string, unknown> = {}, token = maintainer.token) =>
      ashlar.as(token)(`PUT ${path}/${verb}`, { body });
    const write = (token: string) =>
      ashlar.as(token)(`POST ${repository.base}/commits`, {
        body: { branch: 'x', commit_message: 'x', actions: [] },
      });
    expect((await put('protect', {}, developer.token)).status).toBe(403);
    const rights = { protected: true, developers_can_push: false, developers_can_merge: false };
    expect(bodyOf(await put('protect'), 200)).toMatchObject({ ...rights, can_push: true });
    expect((await write(developer.token)).status).toBe(403);
    expect((await write(maintainer.token)).status).toBe(201);
    const open = await put('protect', { developers_can_push: true });
    expect(bodyOf(open, 200)).toMatchObject({ ...rights, developers_can_push: true });
    expect((await write(developer.token)).status).toBe(201);
    const merge = await put('protect', { developers_can_merge: true });
    expect(bodyOf(merge, 200)).toMatchObject({ developers_can_push: true, developers_can_merge: true });
    expect(bodyOf(await put('unprotect'), 200)).toMatchObject({ ...rights, protected: false });
    expect(bodyOf(await put('unprotect'), 200).protected).toBe(false);
    const missing = await ashlar.as(maintainer.token)(`PUT ${repository.base}/branches/none/protect`);
    expect(missing.status).toBe(404);
    const audits = await ashlar.app.services.database.sql<{ event_name: string }[]>`
      select event_name from audit_events
      where entity_id = ${repository.id} and event_name like 'protected_branch%' order by id`;
    expect(audits.map(({ event_name }) => event_name)).toEqual([
      'protected_branch_created',
      'protected_branch_updated',
      'protected_branch_updated',
      'protected_branch_removed',
    ]);
  });
});

test('a branch whose rule says who may change it is not changed past that', async () => {
  const repository = await makeRepository();
  bodyOf(await ashlar.root(`POST ${repository.base}/branches`, { body: { branch: 'x', ref: 'main' } }), 201);
  const body = { name: 'x', unprotect_access_level: 60 };
  bodyOf(
    await ashlar.root(`POST ${repository.base.replace('/repository', '')}/protected_branches`, { body }),
    201,
  );
  for (const verb of ['protect', 'unprotect']) {
    const { status } = await ashlar.as(maintainer.token)(`PUT ${repository.base}/branches/x/${verb}`, {
      body: {},
    });
    expect([verb, status]).toEqual([verb, 403]);
  }
  expect((await ashlar.root(`PUT ${repository.base}/branches/x/unprotect`)).status).toBe(200);
});

describe('tags', () => {
  const create = ({ base }: Repository, body: Record<string, unknown>, token = developer.token) =>
    ashlar.as(token)(`POST ${base}/tags`, { body });

  test('are created with and without a message, listed, shown and deleted', async () => {
    const repository = await makeRepository();
    const call = ashlar.as(developer.token);
    const light = bodyOf(await create(repository, { tag_name: 'v1.9', ref: 'main~1' }), 201);
    expect(light).toMatchObject({
      name: 'v1.9',
      message: null,
      release: null,
      protected: false,
      created_at: null,
    });
    expect(light.target).toBe(light.commit.id);
    const heavy = bodyOf(
      await create(repository, { tag_name: 'rel/v1.10', ref: 'main', message: 'Ten\n\nMore' }),
      201,
    );
    expect(heavy).toMatchObject({ message: 'Ten\n\nMore', commit: { id: repository.head } });
    expect(heavy.target).not.toBe(repository.head);
    expect(heavy.created_at).toMatch(/^\d{4}-\d\d-\d\dT/);
    bodyOf(await create(repository, { tag_name: 'v1.10', ref: 'rel/v1.10' }), 201);
    const list = async (query: string) =>
      namesOf(bodyOf(await call(`GET ${repository.base}/tags`, { query }), 200));
    expect(await list('order_by=name&sort=asc')).toEqual(['rel/v1.10', 'v1.10', 'v1.9']);
    expect(await list('order_by=version&search=%5Ev')).toEqual(['v1.10', 'v1.9']);
    expect((await list('')).at(-1)).toBe('v1.9');
    expect(await list('order_by=name&page_token=v1.10&per_page=1')).toEqual(['rel/v1.10']);
    const path = `${repository.base}/tags/${name('rel/v1.10')}`;
    expect(bodyOf(await call(`GET ${path}`), 200)).toEqual(heavy);
    expect(bodyOf(await call(`GET ${path}/signature`), 404).message).toBe('404 Signature Not Found');
    expect((await call(`GET ${repository.base}/tags/a%20b/signature`)).status).toBe(404);
    const old = { 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' };
    expect((await call(`DELETE ${path}`, { headers: old })).status).toBe(412);
    expect((await call(`DELETE ${path}`)).status).toBe(204);
    expect(bodyOf(await call(`GET ${path}`), 404).message).toBe('404 Tag Not Found');
    expect(bodyOf(await call(`DELETE ${path}`), 404).message).toBe('404 Tag Not Found');
  });

  test('are refused in the public sentences', async () => {
    const repository = await makeRepository();
    bodyOf(await create(repository, { tag_name: 'x', ref: 'main' }), 201);
    const refusal = async (tag_name: string, ref = 'main') => {
      const response = await create(repository, { tag_name, ref });
      return [response.status, response.body.message];
    };
    expect(await refusal('x')).toEqual([400, 'Tag x already exists']);
    expect(await refusal('y', 'none')).toEqual([400, 'Target none is invalid']);
    expect(await refusal('--force')).toEqual([400, 'Tag name invalid']);
    expect(await refusal('a b')).toEqual([400, 'Tag name invalid']);
  });

  test('that are protected are made by those whom the rule lets in, and deleted by maintainers among them', async () => {
    const repository = await makeRepository();
    const { sql } = ashlar.app.services.database;
    const [rule] = await sql<{ id: number }[]>`
      insert into protected_tags (project_id, name, created_at, updated_at)
      values (${repository.id}, 'v*', now(), now()) returning id`;
    await sql`insert into protected_ref_access (protected_tag_id, action, access_level, created_at)
      values (${rule?.id ?? 0}, 'create', 40, now())`;
    const wish = { tag_name: 'v1', ref: 'main' };
    expect((await create(repository, wish)).status).toBe(403);
    expect(bodyOf(await create(repository, wish, maintainer.token), 201).protected).toBe(true);
    const remove = (token: string) => ashlar.as(token)(`DELETE ${repository.base}/tags/v1`);
    const level = (number: number) =>
      sql`update protected_ref_access set access_level = ${number} where protected_tag_id = ${rule?.id ?? 0}`;
    await level(30);
    expect((await remove(developer.token)).status).toBe(403);
    await level(60);
    expect((await remove(maintainer.token)).status).toBe(403);
    await level(40);
    expect((await remove(maintainer.token)).status).toBe(204);
  });
});
