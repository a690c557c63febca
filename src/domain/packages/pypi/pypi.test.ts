/** Python packages as indexes of projects and groups show them. */
import { createHash } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeGroup, makeMembers, makeProject } from '../../../../test/support/factories.ts';
import { makeTeam, type Team } from '../../../../test/support/packages.ts';

const app: TestApp = useApp();
let { group, project, developer, reporter } = {} as Team;

beforeEach(async () => {
  ({ group, project, developer, reporter } = await makeTeam(app));
});

const CONTENT = 'granite';
const SHA = createHash('sha256').update(CONTENT).digest('hex');

async function upload(fields: Record<string, string>, filename: string, { token } = developer) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set('content', new Blob([CONTENT]), filename);
  const response = await fetch(`${app.url}/api/v4/projects/${project.id}/packages/pypi/`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`__token__:${token}`).toString('base64')}` },
    body: form,
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

const get = async (path: string, { token } = reporter, headers: Record<string, string> = {}) => {
  const response = await fetch(`${app.url}/api/v4${path}`, {
    headers: { 'private-token': token, ...headers },
  });
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
};

const places = () => [`/projects/${project.id}/packages/pypi`, `/groups/${group.id}/-/packages/pypi`];

test('what is published is in the index of its project and of the groups around it, and installs', async () => {
  const fields = { name: 'Dark_Granite', version: '1.0', requires_python: '>=3.8,<4', sha256_digest: SHA };
  expect(await upload(fields, 'dark_granite-1.0.tar.gz')).toEqual({
    status: 201,
    body: { message: '201 Created' },
  });
  expect((await upload({ ...fields, version: '1.1' }, 'dark_granite-1.1-py3-none-any.whl')).status).toBe(201);
  for (const place of places()) {
    const names = await get(`${place}/simple/`);
    expect(names).toMatchObject({ status: 200, type: 'text/html; charset=utf-8' });
    expect(names.text).toContain(`<a href="/api/v4${place}/simple/dark-granite/">dark-granite</a>`);
    const page = await get(`${place}/simple/Dark.Granite/`);
    const address = `${app.url}/api/v4${place}/files/${SHA}/dark_granite-1.0.tar.gz`;
    expect(page.text).toContain('<title>Links for dark-granite</title>');
    expect(page.text).toContain(
      `<a href="${address}#sha256=${SHA}" data-requires-python="&gt;=3.8,&lt;4">dark_granite-1.0.tar.gz</a>`,
    );
    const accept = { accept: 'application/vnd.pypi.simple.v1+json, text/html;q=0.1' };
    const json = await get(`${place}/simple/dark-granite/`, reporter, accept);
    expect(json.type).toBe('application/vnd.pypi.simple.v1+json');
    expect(JSON.parse(json.text)).toMatchObject({
      meta: { 'api-version': '1.0' },
      name: 'dark-granite',
      files: [
        { filename: 'dark_granite-1.1-py3-none-any.whl' },
        { filename: 'dark_granite-1.0.tar.gz', url: address, hashes: { sha256: SHA } },
      ],
    });
    expect(JSON.parse((await get(`${place}/simple`, reporter, accept)).text)).toMatchObject({
      projects: [{ name: 'dark-granite' }],
    });
    expect(await get(`${place}/files/${SHA}/dark_granite-1.0.tar.gz`)).toMatchObject({
      status: 200,
      text: CONTENT,
    });
    expect((await get(`${place}/files/${SHA}/other.tar.gz`)).status).toBe(404);
    expect((await get(`${place}/simple/slate/`)).status).toBe(404);
  }
});

test('a file name is taken once, and what is wrong is told', async () => {
  const fields = { name: 'granite', version: '1.0' };
  expect((await upload(fields, 'granite-1.0.tar.gz')).status).toBe(201);
  expect(await upload(fields, 'granite-1.0.tar.gz')).toMatchObject({
    status: 400,
    body: { message: 'Validation failed: File name has already been taken' },
  });
  expect((await upload({ ...fields, sha256_digest: 'a'.repeat(64) }, 'granite-1.1.tar.gz')).status).toBe(400);
  expect((await upload({ name: 'granite' }, 'granite-1.1.tar.gz')).status).toBe(400);
  expect((await upload(fields, 'granite-1.1.tar.gz', reporter)).status).toBe(403);
});

test('a group shows what the caller reads, and a deploy token what is below its group', async () => {
  await upload({ name: 'granite', version: '1.0' }, 'granite-1.0.tar.gz');
  const hidden = await makeProject(app, { visibility: 'private', namespace_id: group.id });
  const [, place = ''] = places();
  const { guest } = await makeMembers(app, `projects/${hidden.id}`, 'guest');
  expect((await get(`${place}/simple/granite`, guest)).status).toBe(404);
  const made = await app.root(`POST /groups/${group.id}/deploy_tokens`, {
    body: { name: 'd', scopes: ['read_package_registry'] },
  });
  const { token } = bodyOf(made, 201);
  expect((await get(`${place}/simple/granite`, { ...reporter, token })).status).toBe(200);
  const other = await makeGroup(app);
  expect((await get(`/groups/${other.id}/-/packages/pypi/simple`, { ...reporter, token })).status).toBe(404);
  const anonymous = await fetch(`${app.url}/api/v4${place}/simple/granite`);
  expect(anonymous.status).toBe(401);
});
