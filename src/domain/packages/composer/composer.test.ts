/** Refs of a project as Composer packages of the groups around it. */
import { beforeEach, expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import { bodyOf } from '../../../../test/support/factories.ts';
import {
  basic,
  type Headers,
  makeTeam,
  openToAll,
  own,
  type Team,
} from '../../../../test/support/packages.ts';
import { fillProject } from '../../../../test/support/repositories.ts';

const app: TestApp = useApp();
let { group, project, maintainer, developer, reporter, guest } = {} as Team;
let head = '';

const description = (more = '') => `{"name": "acme/stone", "description": "dark"${more}}`;

beforeEach(async () => {
  ({ group, project, maintainer, developer, reporter, guest } = await makeTeam(app));
  head = await fillProject(app, project.id, [{ 'composer.json': description(), 'src/a.php': '<?php' }]);
  const tag = { tag_name: 'v1.0.0', ref: 'main' };
  bodyOf(await app.root(`POST /projects/${project.id}/repository/tags`, { body: tag }), 201);
});

const api = () => `${app.url}/api/v4`;
const ofGroup = () => `${api()}/group/${group.id}/-/packages/composer`;

async function publish(fields: Record<string, string>, headers: Headers = own(developer)) {
  const response = await fetch(`${api()}/projects/${project.id}/packages/composer`, {
    method: 'POST',
    headers,
    body: new URLSearchParams(fields),
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
}
async function get(url: string, headers: Headers = basic('any', reporter.token)) {
  const response = await fetch(url, { headers });
  return { status: response.status, content: Buffer.from(await response.arrayBuffer()) };
}
const versions = async () =>
  JSON.parse((await get(`${ofGroup()}/p2/acme/stone.json`)).content.toString()).packages['acme/stone'];

test('a tag and a branch are published, found in a group, and fetched', async () => {
  expect(await publish({ tag: 'v1.0.0' })).toEqual({ status: 201, body: { message: '201 Created' } });
  expect((await publish({ branch: 'main' })).status).toBe(201);
  const index = await get(`${ofGroup()}/packages.json`);
  expect(JSON.parse(index.content.toString())).toEqual({
    packages: [],
    'metadata-url': `/api/v4/group/${group.id}/-/packages/composer/p2/%package%.json`,
  });
  const found = await versions();
  expect(Object.keys(found).sort()).toEqual(['1.0.0', 'dev-main']);
  expect(found['1.0.0']).toMatchObject({
    description: 'dark',
    dist: { type: 'zip', reference: head },
    source: { url: expect.stringMatching(/\.git$/), reference: head },
  });
  const archive = await get(found['1.0.0'].dist.url);
  expect(archive.status).toBe(200);
  expect(archive.content.toString('latin1')).toContain('src/a.php');
  const listed = bodyOf(await app.as(reporter.token)(`GET /projects/${project.id}/packages`), 200);
  expect(listed).toMatchObject([
    { name: 'acme/stone', version: '1.0.0', package_type: 'composer' },
    { version: 'dev-main', last_downloaded_at: expect.any(String) },
  ]);
});

test('a version that is published again is its newest commit, and the one before is no more', async () => {
  await publish({ branch: 'main' });
  const before = (await versions())['dev-main'].dist.url;
  const newer = await fillProject(app, project.id, [{ 'composer.json': description(', "type": "library"') }]);
  await publish({ branch: 'main' });
  const version = (await versions())['dev-main'];
  expect(version).toMatchObject({ type: 'library', dist: { reference: newer } });
  expect((await get(version.dist.url)).status).toBe(200);
  expect((await get(before)).status).toBe(404);
});

test('what is no package is told', async () => {
  expect((await publish({})).status).toBe(400);
  expect((await publish({ tag: 'v1.0.0', branch: 'main' })).status).toBe(400);
  expect(await publish({ tag: 'v9' })).toMatchObject({ status: 404, body: { message: '404 Tag Not Found' } });
  expect((await publish({ branch: '../x' })).status).toBe(404);
  expect((await publish({ branch: 'refs/heads/main' })).status).toBe(404);
  for (const [file, problem] of [
    ['{"name": "Stone"}', 'name is invalid'],
    ['{', 'not a JSON object'],
    [`{"a": "${'x'.repeat(70_000)}"}`, 'too large'],
  ] as const) {
    await fillProject(app, project.id, [{ 'composer.json': file }]);
    const { status, body } = await publish({ branch: 'main' });
    expect([status, body.message]).toEqual([422, expect.stringContaining(problem)]);
  }
  expect((await get(`${ofGroup()}/p2/acme/stone.json`)).status).toBe(404);
  expect((await get(`${ofGroup()}/p2/acme/..%2Fstone.json`)).status).toBe(404);
});

test('the archive of a commit that was not published is not there', async () => {
  await publish({ tag: 'v1.0.0' });
  const archives = `${api()}/projects/${project.id}/packages/composer/archives`;
  const newer = await fillProject(app, project.id, [{ secret: 'x' }]);
  expect((await get(`${archives}/acme/stone.zip?sha=${newer}`)).status).toBe(404);
  expect((await get(`${archives}/acme/other.zip?sha=${head}`)).status).toBe(404);
  expect((await get(`${archives}/acme/stone.zip?sha=main`)).status).toBe(400);
});

test('who fetches and publishes', async () => {
  await publish({ tag: 'v1.0.0' });
  const { url } = (await versions())['1.0.0'].dist;
  const made = await app.as(maintainer.token)(`POST /projects/${project.id}/deploy_tokens`, {
    body: { name: 'd', scopes: ['read_package_registry'] },
  });
  const deploy = bodyOf(made, 201) as unknown as { username: string; token: string };
  expect((await get(url, basic(deploy.username, deploy.token))).status).toBe(200);
  for (const at of [url, `${ofGroup()}/packages.json`, `${ofGroup()}/p2/acme/stone.json`])
    expect((await get(at, {})).status).toBe(401);
  expect((await get(url, own(guest))).status).toBe(403);
  expect((await publish({ branch: 'main' }, basic(deploy.username, deploy.token))).status).toBe(403);
  expect((await publish({ branch: 'main' }, own(reporter))).status).toBe(403);
  expect((await publish({ branch: 'main' }, {})).status).toBe(401);
  const settings = { repository_access_level: 'disabled' };
  bodyOf(await app.root(`PUT /projects/${project.id}`, { body: settings }), 200);
  expect((await publish({ branch: 'main' })).status).toBe(403);
  bodyOf(
    await app.root(`PUT /projects/${project.id}`, { body: { repository_access_level: 'enabled' } }),
    200,
  );
  await openToAll(app, { group, project });
  for (const at of [url, `${ofGroup()}/packages.json`, `${ofGroup()}/p2/acme/stone.json`])
    expect((await get(at, {})).status).toBe(200);
  for (const name of ['acme/other', 'acme/stone~dev'])
    expect((await get(`${ofGroup()}/p2/${name}.json`, {})).status).toBe(404);
});
