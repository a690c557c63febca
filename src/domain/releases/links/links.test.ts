/** Links of releases over HTTP: what they are, how they are told apart, and what leads to them. */
import { beforeAll, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';
import { fillProject } from '../../../../test/support/repositories.ts';

const ashlar = useApp();
let project: MadeProject;
let developer: MadeUser;
let guest: MadeUser;
let release: string;
let links: string;

beforeAll(async () => {
  project = await makeProject(ashlar);
  await fillProject(ashlar, project.id, [{ a: '1' }]);
  ({ developer, guest } = await makeMembers(ashlar, `projects/${project.id}`, 'developer', 'guest'));
  for (const tag_name of ['v1/a', 'v2'])
    bodyOf(
      await ashlar.root(`POST /projects/${project.id}/releases`, { body: { tag_name, ref: 'main' } }),
      201,
    );
  release = `/projects/${project.id}/releases/v1%2Fa`;
  links = `${release}/assets/links`;
});

const call = (...request: Parameters<typeof ashlar.root>) => ashlar.as(developer.token)(...request);
const add = async (body: object) => bodyOf(await call(`POST ${links}`, { body }), 201);

test('a link is added, read, changed and removed', async () => {
  const made = await add({ name: 'One', url: 'https://example.com/1' });
  expect(made).toEqual({
    id: expect.any(Number),
    name: 'One',
    url: 'https://example.com/1',
    direct_asset_url: 'https://example.com/1',
    link_type: 'other',
  });
  const one = `${links}/${made.id}`;
  expect(bodyOf(await call(`GET ${one}`), 200)).toEqual(made);
  expect(bodyOf(await ashlar.as(guest.token)(`GET ${links}`), 200)).toContainEqual(made);
  const body = { name: 'Two', filepath: '/bin/two', link_type: 'runbook' };
  const changed = bodyOf(await call(`PUT ${one}`, { body }), 200);
  const direct_asset_url = `${ashlar.url}/${project.path_with_namespace}/-/releases/v1%2Fa/downloads/bin/two`;
  expect(changed).toEqual({ ...made, name: 'Two', link_type: 'runbook', direct_asset_url });
  expect((await call(`PUT ${one}`, { body: {} })).status).toBe(400);
  expect(bodyOf(await call(`DELETE ${one}`), 200)).toEqual(changed);
  for (const request of [`GET ${one}`, `DELETE ${one}`]) expect((await call(request)).status).toBe(404);
});

test('name, address and path are of one link of a release', async () => {
  const fields = { name: 'Same', url: 'https://example.com/same', direct_asset_path: '/same' };
  await add(fields);
  const other = { name: 'Other', url: 'https://example.com/other' };
  for (const [property, body] of [
    ['name', { ...other, name: fields.name }],
    ['url', { ...other, url: fields.url }],
    ['filepath', { ...other, filepath: fields.direct_asset_path }],
  ] as const) {
    const refused = await call(`POST ${links}`, { body });
    expect([refused.status, refused.body.message]).toEqual([400, { [property]: ['has already been taken'] }]);
  }
  const elsewhere = `/projects/${project.id}/releases/v2/assets/links`;
  const made = bodyOf(await call(`POST ${elsewhere}`, { body: fields }), 201);
  expect((await call(`GET ${links}/${made.id}`)).status).toBe(404);
  expect((await call(`DELETE ${links}/${made.id}`)).status).toBe(404);
});

test('addresses that browsers would run, and paths that lead out, are refused', async () => {
  const send = (body: object) => call(`POST ${links}`, { body: { name: 'Bad', ...body } });
  expect((await send({ url: 'javascript:alert(1)' })).body.message).toEqual({
    url: ['is blocked: Only allowed schemes are http, https, ftp'],
  });
  expect((await send({ url: 'https://example.com/b', filepath: 'b' })).body.message).toEqual({
    filepath: ['is in an invalid format'],
  });
  expect((await send({ url: `https://example.com/${'x'.repeat(2_048)}` })).status).toBe(400);
  expect((await send({ url: 'https://example.com/b', link_type: 'worm' })).status).toBe(400);
});

test('a path below the release leads to the link’s address and nowhere else', async () => {
  await add({
    name: 'Program',
    url: 'https://example.com/prögram?a=b',
    direct_asset_path: '/bin/x86/program',
  });
  const web = `/${project.path_with_namespace}/-/releases/v1%2Fa/downloads`;
  const led = async (request: string, raw: boolean, by = guest) => {
    const response = await ashlar.as(by.token)(request, { raw });
    return [response.status, response.headers.get('location')];
  };
  const there = [302, 'https://example.com/pr%C3%B6gram?a=b'];
  expect(await led(`GET ${release}/downloads/bin/x86/program`, false)).toEqual(there);
  expect(await led(`GET ${release}/downloads/bin%2Fx86%2Fprogram?url=https://evil.example`, false)).toEqual(
    there,
  );
  expect(await led(`GET ${web}/bin/x86/program`, true)).toEqual(there);
  for (const path of ['bin/x86', 'https://evil.example', '/evil.example', 'bin/x86/program/..'])
    expect([path, await led(`GET ${release}/downloads/${path}`, false)]).toEqual([path, [404, null]]);
  const stranger = await makeUser(ashlar);
  expect((await led(`GET ${web}/bin/x86/program`, true, stranger))[0]).toBe(404);
  expect((await ashlar.call(`GET ${web}/bin/x86/program`, { raw: true })).status).toBe(404);
});

test('the address of a path stays valid when the project moves, for those who read its releases', async () => {
  const moved = await makeProject(ashlar);
  await fillProject(ashlar, moved.id, [{ a: '1' }]);
  const assets = { links: [{ name: 'a', url: 'https://example.com/a', filepath: '/a' }] };
  const body = { tag_name: 'v1', ref: 'main', assets };
  bodyOf(await ashlar.root(`POST /projects/${moved.id}/releases`, { body }), 201);
  bodyOf(
    await ashlar.root(`PUT /projects/${moved.id}`, { body: { path: 'moved-away', visibility: 'public' } }),
    200,
  );
  const web = `/${moved.path_with_namespace}/-/releases/v1/downloads/a`;
  const led = async () => (await ashlar.call(`GET ${web}`, { raw: true })).status;
  expect(await led()).toBe(302);
  bodyOf(await ashlar.root(`PUT /projects/${moved.id}`, { body: { releases_access_level: 'private' } }), 200);
  expect(await led()).toBe(403);
});

test('of many that are added at once, as many are as there is room for', async () => {
  const { sql } = ashlar.app.services.database;
  await sql`insert into release_links (release_id, name, url, link_type, created_at, updated_at)
    select r.id, 'filler ' || n, 'https://example.com/filler/' || n, 'other', now(), now()
    from releases r, generate_series(1, 499 - (select count(*)::integer from release_links l
      join releases x on x.id = l.release_id where x.tag = 'v1/a')) n where r.tag = 'v1/a'`;
  const all = await Promise.all(
    [1, 2, 3].map((at) =>
      call(`POST ${links}`, { body: { name: `Last ${at}`, url: `https://example.com/last/${at}` } }),
    ),
  );
  expect(all.map(({ status }) => status).sort()).toEqual([201, 400, 400]);
});
