/** Terraform modules as programs publish them, and find and fetch them by the protocol of registries. */
import { createHash } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeGroup, makeMembers, makeProject } from '../../../../test/support/factories.ts';
import {
  bearer,
  type Headers,
  makeTeam,
  openToAll,
  own,
  type Team,
} from '../../../../test/support/packages.ts';

const app: TestApp = useApp();
let { group, project, developer, reporter, guest } = {} as Team;

beforeEach(async () => {
  ({ group, project, developer, reporter, guest } = await makeTeam(app));
});

async function send(method: string, url: string, headers: Headers, body?: string) {
  const options = { method, headers, redirect: 'manual' as const, ...(body !== undefined && { body }) };
  const response = await fetch(url, options);
  return { status: response.status, headers: response.headers, text: await response.text() };
}
const modules = (id = project.id) => `${app.url}/api/v4/projects/${id}/packages/terraform/modules`;
const registry = () => `${app.url}/api/v4/packages/terraform/modules/v1/${group.full_path}`;
const put = (path: string, content: string, headers = own(developer), id = project.id) =>
  send('PUT', `${modules(id)}/${path}/file`, headers, content);
const get = (path: string, headers = bearer(reporter)) => send('GET', `${registry()}/${path}`, headers);

test('a host says where its registry is', async () => {
  const { text } = await send('GET', `${app.url}/.well-known/terraform.json`, {});
  expect(JSON.parse(text)).toEqual({ 'modules.v1': '/api/v4/packages/terraform/modules/v1/' });
});

test('a module is published, found by its versions and fetched without a credential', async () => {
  for (const version of ['1.0.0', '1.10.0', '1.9.0'])
    expect(await put(`beacon/aws/${version}`, version)).toMatchObject({
      status: 201,
      text: '{"message":"201 Created"}',
    });
  const versions = ['1.10.0', '1.9.0', '1.0.0'];
  const source = `${app.url}/${project.path_with_namespace}`;
  const root = { dependencies: [], providers: [{ name: 'aws', version: '' }] };
  expect(JSON.parse((await get('beacon/aws/versions')).text)).toEqual({
    modules: [{ source, versions: versions.map((version) => ({ version, submodules: [], root })) }],
  });
  const described = {
    name: 'beacon/aws',
    provider: 'aws',
    providers: ['aws'],
    root: { dependencies: [] },
    source,
    submodules: [],
    versions,
  };
  expect(JSON.parse((await get('beacon/aws')).text)).toEqual({ ...described, version: '1.10.0' });
  expect(JSON.parse((await get('beacon/aws/1.0.0')).text)).toEqual({ ...described, version: '1.0.0' });
  const newest = await get('beacon/aws/download');
  expect(newest.status).toBe(302);
  expect(newest.headers.get('location')).toBe(`${registry()}/beacon/aws/1.10.0/download`);
  const found = await get('beacon/aws/1.9.0/download');
  expect(found.status).toBe(204);
  const address = found.headers.get('x-terraform-get') ?? '';
  expect(address).toMatch(/\/beacon\/aws\/1\.9\.0\/file\?token=.*&archive=tgz$/);
  expect(await send('GET', address, {})).toMatchObject({ status: 200, text: '1.9.0' });
  expect((await send('GET', address.replace(/token=./, 'token=x'), {})).status).toBe(401);
  expect((await send('GET', address.replace(/\?.*/, ''), {})).status).toBe(401);
  for (const missing of [
    'beacon/gcp',
    'beacon/gcp/versions',
    'beacon/aws/2.0.0',
    'beacon/aws/2.0.0/download',
  ])
    expect((await get(missing)).status).toBe(404);
});

test('a project has its modules too', async () => {
  await put('beacon/aws/1.0.0', 'old');
  await put('beacon/aws/1.1.0', 'new');
  const at = `${modules()}/beacon/aws`;
  expect(await send('GET', at, own(reporter))).toMatchObject({ status: 200, text: 'new' });
  expect(await send('GET', `${at}/1.0.0`, own(reporter))).toMatchObject({ status: 200, text: 'old' });
  const led = await send('GET', `${at}/1.0.0?terraform-get=1`, own(reporter));
  expect(led.status).toBe(204);
  expect(led.headers.get('x-terraform-get')).toBe(`${at}/1.0.0?archive=tgz`);
  expect((await send('GET', `${at}/3.0.0`, own(reporter))).status).toBe(404);
  expect((await send('GET', `${modules()}/beacon/gcp`, own(reporter))).status).toBe(404);
});

test('a name is that of one project below the top-level group, and a version is published once', async () => {
  expect((await put('beacon/aws/1.0.0', 'x')).status).toBe(201);
  expect(await put('beacon/aws/1.0.0', 'y')).toMatchObject({
    status: 403,
    text: '{"message":"Package version already exists."}',
  });
  const below = await makeGroup(app, { visibility: 'private', parent_id: group.id });
  const other = await makeProject(app, { visibility: 'private', namespace_id: below.id });
  const apart = await makeProject(app, { visibility: 'private' });
  const { developer: theirs } = await makeMembers(app, `projects/${other.id}`, 'developer');
  expect(await put('beacon/aws/2.0.0', 'x', own(theirs), other.id)).toMatchObject({
    status: 403,
    text: '{"message":"Package already exists."}',
  });
  expect((await put('beacon/gcp/2.0.0', 'x', own(theirs), other.id)).status).toBe(201);
  const { developer: strangers } = await makeMembers(app, `projects/${apart.id}`, 'developer');
  expect((await put('beacon/aws/2.0.0', 'x', own(strangers), apart.id)).status).toBe(201);
  // Two at once: one of them is the first.
  const both = await Promise.all([
    put('tower/aws/1.0.0', 'x'),
    put('tower/aws/1.0.0', 'x', own(theirs), other.id),
  ]);
  expect(both.map(({ status }) => status).sort()).toEqual([201, 403]);
});

test('who fetches and publishes', async () => {
  await put('beacon/aws/1.0.0', 'granite');
  const made = await app.root(`POST /groups/${group.id}/deploy_tokens`, {
    body: { name: 'd', scopes: ['read_package_registry'] },
  });
  const deploy = bodyOf(made, 201) as unknown as { token: string };
  const { sql } = app.app.services.database;
  const digest = createHash('sha256').update('glcbt-of-the-modules').digest();
  await sql`insert into access_tokens (kind, digest, user_id, project_id, name, scopes, created_at, updated_at)
    select 'job', ${digest}, id, ${project.id}, 'job', '{}', now(), now() from users where username = ${developer.username}`;
  const job = { token: 'glcbt-of-the-modules' };
  for (const credential of [deploy, job, reporter])
    for (const path of ['beacon/aws', 'beacon/aws/versions'])
      expect((await get(path, bearer(credential))).status).toBe(200);
  expect((await get('beacon/aws', {})).status).toBe(401);
  expect((await get('beacon/aws', bearer(guest))).status).toBe(404);
  const at = `${modules()}/beacon/aws`;
  expect((await send('GET', at, {})).status).toBe(401);
  expect((await send('GET', at, own(guest))).status).toBe(403);
  expect((await put('beacon/aws/1.1.0', 'x', bearer(job))).status).toBe(201);
  expect((await put('beacon/aws/1.2.0', 'x', bearer(deploy))).status).toBe(403);
  expect((await put('beacon/aws/1.2.0', 'x', own(reporter))).status).toBe(403);
  expect((await put('beacon/aws/1.2.0', 'x', {})).status).toBe(401);
  await openToAll(app, { group, project });
  expect((await get('beacon/aws', {})).status).toBe(200);
  expect((await send('GET', at, {})).status).toBe(200);
});

test.each([
  'Beacon/aws/1.0.0',
  'beacon/a.ws/1.0.0',
  'beacon/aws/1',
  '..%2Fx/aws/1.0.0',
  'beacon/aws/1.0.0%2F..',
])('%s is refused', async (path) => {
  expect((await put(path, 'x')).status).toBe(400);
});

test('the group at the top says whether projects share names; a version is published once all the same', async () => {
  const below = await makeGroup(app, { visibility: 'private', parent_id: group.id });
  const other = await makeProject(app, { visibility: 'private', namespace_id: below.id });
  const { developer: theirs } = await makeMembers(app, `projects/${other.id}`, 'developer');
  const say = async (id: number, settings: object) =>
    bodyOf(await app.root(`PUT /groups/${id}`, { body: settings }), 200);
  const share = async (name: string) => {
    expect((await put(`${name}/1.0.0`, 'x')).status).toBe(201);
    return (await put(`${name}/1.0.0`, 'x', own(theirs), other.id)).status;
  };
  await say(below.id, { terraform_module_duplicates_allowed: false });
  await say(group.id, { terraform_module_duplicate_exception_regex: 'beacon/.*' });
  expect(await share('beacon/aws')).toBe(201);
  expect(await share('harbour/aws')).toBe(403);
  await say(group.id, { terraform_module_duplicates_allowed: true });
  expect(await share('harbour/gcp')).toBe(201);
  expect(await share('beacon/gcp')).toBe(403);
  expect(await put('harbour/gcp/1.0.0', 'y')).toMatchObject({
    status: 403,
    text: '{"message":"Package version already exists."}',
  });
});
