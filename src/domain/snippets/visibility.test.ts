/** Visibility of snippets and changes to them, alone and in lists. */
import { expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeUser,
  makeMembers,
  makeProject,
  makeSnippet,
  makeUser,
  snippetFiles,
} from '../../../test/support/factories.ts';

const app = useApp();
const as = (user: MadeUser) => app.as(user.token);
const idsOf = (body: { id: number }[]): number[] => body.map(({ id }) => id);

test('personal snippets are seen as their visibility says, and changed by their authors', async () => {
  const author = await makeUser(app);
  const other = await makeUser(app);
  const external = await makeUser(app, { external: true });
  const made: Record<string, number> = {};
  for (const visibility of ['private', 'internal', 'public'])
    made[visibility] = (await makeSnippet(app, '/snippets', author, { visibility })).id;
  const seen: Record<string, string> = {};
  for (const [name, call] of Object.entries({
    anonymous: app.call,
    author: as(author),
    other: as(other),
    external: as(external),
    admin: app.root,
  })) {
    const statuses: number[] = [];
    for (const id of Object.values(made)) {
      const one = (await call(`GET /snippets/${id}`)).status;
      expect((await call(`GET /snippets/${id}/raw`)).status).toBe(one);
      expect((await call(`GET /snippets/${id}/files/main/a.txt/raw`)).status).toBe(one);
      const change = (await call(`PUT /snippets/${id}`, { body: { description: name } })).status;
      statuses.push(one, change);
    }
    seen[name] = statuses.join(' ');
  }
  expect(seen).toEqual({
    anonymous: '404 401 404 401 200 401',
    author: '200 200 200 200 200 200',
    other: '404 404 200 403 200 403',
    external: '404 404 404 404 200 403',
    admin: '200 200 200 200 200 200',
  });
  const all = async (user: MadeUser, path = '/snippets/all') =>
    idsOf(bodyOf(await as(user)(`GET ${path}`, { query: 'per_page=100' }), 200)).filter((id) =>
      Object.values(made).includes(id),
    );
  expect(await all(author)).toEqual([made.public, made.internal, made.private]);
  expect(await all(other)).toEqual([made.public, made.internal]);
  expect(await all(external)).toEqual([made.public]);
  expect(await all(other, '/snippets')).toEqual([]);
  expect(await all(author, '/snippets')).toEqual([made.public, made.internal, made.private]);
  expect(idsOf(bodyOf(await app.call('GET /snippets/public'), 200))).toContain(made.public);
  expect(idsOf(bodyOf(await app.call('GET /snippets/public'), 200))).not.toContain(made.internal);
  expect(
    (await as(external)('POST /snippets', { body: { title: 'x', files: snippetFiles('a') } })).status,
  ).toBe(403);
  expect((await app.call('GET /snippets/all')).status).toBe(401);
});

test('lists are of a time, and for administrators of a storage', async () => {
  const user = await makeUser(app);
  const { id } = await makeSnippet(app, '/snippets', user);
  const list = async (query: string, call = as(user)) =>
    idsOf(bodyOf(await call('GET /snippets/all', { query: `per_page=100&${query}` }), 200)).includes(id);
  expect(await list('created_after=2020-01-01T00:00:00Z')).toBe(true);
  expect(await list('created_before=2020-01-01T00:00:00Z')).toBe(false);
  expect(await list('repository_storage=default', app.root)).toBe(true);
  expect(await list('repository_storage=other', app.root)).toBe(false);
  expect(await list('repository_storage=other')).toBe(true);
});

test('a visibility that the administrator keeps, and the default one', async () => {
  const user = await makeUser(app);
  const put = async (body: object) => bodyOf(await app.root('PUT /application/settings', { body }), 200);
  await put({ restricted_visibility_levels: ['public'], default_snippet_visibility: 'internal' });
  try {
    const body = { title: 'x', files: snippetFiles('a'), visibility: 'public' };
    expect((await as(user)('POST /snippets', { body })).body.message).toHaveProperty('visibility_level');
    expect((await makeSnippet(app, '/snippets', user, { visibility: undefined })).visibility).toBe(
      'internal',
    );
  } finally {
    await put({ restricted_visibility_levels: [], default_snippet_visibility: 'private' });
  }
});

test('snippets of a project follow its visibility, its setting and the roles in it', async () => {
  const project = await makeProject(app, { visibility: 'public' });
  const path = `/projects/${project.id}/snippets`;
  const outsider = await makeUser(app);
  const { guest, reporter, maintainer } = await makeMembers(
    app,
    `projects/${project.id}`,
    'guest',
    'reporter',
    'maintainer',
  );
  const body = { title: 'x', visibility: 'private', files: snippetFiles('a.txt') };
  expect((await as(guest)(`POST ${path}`, { body })).status).toBe(403);
  const hidden = await makeSnippet(app, path, reporter);
  const open = await makeSnippet(app, path, reporter, { visibility: 'public' });
  const base = `${app.app.services.baseUrl()}/${project.path_with_namespace}`;
  expect([hidden.project_id, hidden.web_url, hidden.http_url_to_repo]).toEqual([
    project.id,
    `${base}/-/snippets/${hidden.id}`,
    `${base}/snippets/${hidden.id}.git`,
  ]);
  const list = async (user: MadeUser, at = path) => {
    const { status, body: found } = await as(user)(`GET ${at}`, { query: 'per_page=100' });
    return status === 200 ? idsOf(found).filter((id) => id === hidden.id || id === open.id) : status;
  };
  const all = (user: MadeUser) => list(user, '/snippets/all');
  expect([await list(guest), await list(outsider)]).toEqual([[open.id, hidden.id], [open.id]]);
  expect([await all(guest), await all(outsider)]).toEqual([[open.id, hidden.id], [open.id]]);
  expect(await list(reporter, '/snippets')).toEqual([open.id, hidden.id]);
  expect((await app.call(`GET ${path}/${open.id}/raw`)).text).toBe('of a.txt');
  const missing = await as(outsider)(`GET ${path}/${hidden.id}`);
  expect([missing.status, missing.body.message]).toEqual([404, '404 Snippet Not Found']);

  const change = (user: MadeUser, id = open.id) =>
    as(user)(`PUT ${path}/${id}`, { body: { title: 'changed' } }).then(({ status }) => status);
  expect(await change(guest)).toBe(403);
  expect(await change(reporter)).toBe(200);
  expect(await change(maintainer)).toBe(200);
  const other = await makeUser(app);
  await addMember(app, `projects/${project.id}`, other, 30);
  expect(await change(other)).toBe(403);
  expect((await as(other)(`DELETE ${path}/${open.id}`)).status).toBe(403);

  // Neither another project's nor a personal one, and no project's as a personal one.
  const elsewhere = await makeProject(app, { visibility: 'public' });
  expect((await app.root(`GET /projects/${elsewhere.id}/snippets/${open.id}`)).status).toBe(404);
  expect((await app.root(`GET /snippets/${open.id}`)).status).toBe(404);
  const personal = await makeSnippet(app, '/snippets', reporter);
  expect((await as(reporter)(`DELETE ${path}/${personal.id}`)).status).toBe(404);

  await app.root(`PUT /projects/${project.id}`, { body: { snippets_access_level: 'private' } });
  expect([await list(outsider), await list(guest)]).toEqual([403, [open.id, hidden.id]]);
  expect([await all(outsider), await all(guest)]).toEqual([[], [open.id, hidden.id]]);
  await app.root(`PUT /projects/${project.id}`, { body: { snippets_access_level: 'disabled' } });
  expect([await list(guest), await all(guest)]).toEqual([403, []]);
  await app.root(`PUT /projects/${project.id}`, {
    body: { snippets_access_level: 'enabled', visibility: 'private' },
  });
  expect([await list(outsider), await all(outsider), await all(guest)]).toEqual([
    404,
    [],
    [open.id, hidden.id],
  ]);
});
