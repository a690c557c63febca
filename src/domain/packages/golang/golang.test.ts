/** Modules in the repository of a project as programs of Go ask for them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
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
import { withZipFile } from '../../../platform/archives/zip-file.ts';

const app: TestApp = useApp();
let { group, project, maintainer, developer, reporter, guest } = {} as Team;
let module = '';
let head = '';

beforeEach(async () => {
  ({ group, project, maintainer, developer, reporter, guest } = await makeTeam(app));
  const { path_with_namespace } = bodyOf(await app.root(`GET /projects/${project.id}`), 200);
  module = `${new URL(app.url).hostname}/${path_with_namespace}`;
  head = await fillProject(app, project.id, [
    {
      'go.mod': `module ${module}\n`,
      'stone.go': 'package stone\n',
      '.gitattributes': 'stone.go export-ignore\n',
      'lib/go.mod': `module ${module}/lib\n`,
      'lib/lib.go': 'package lib\n',
      'vendor/x/a.go': 'package x\n',
      LICENSE: 'free\n',
    },
  ]);
  for (const tag_name of ['v1.0.0', 'v1.10.0', 'v1.9.0', 'lib/v0.1.0', 'v2.0.0', 'other'])
    bodyOf(
      await app.root(`POST /projects/${project.id}/repository/tags`, { body: { tag_name, ref: 'main' } }),
      201,
    );
});

const folder = mkdtempSync(join(tmpdir(), 'go-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function get(path: string, headers: Headers = basic('any', reporter.token)) {
  const response = await fetch(`${app.url}/api/v4/projects/${project.id}/packages/go/${path}`, { headers });
  const content = Buffer.from(await response.arrayBuffer());
  return { status: response.status, text: content.toString(), content };
}

async function namesIn(content: Buffer): Promise<string[]> {
  const path = join(folder, 'module.zip');
  writeFileSync(path, content);
  return withZipFile(path, async (zip) => {
    const names: string[] = [];
    for await (const { fileName } of zip.eachEntry()) names.push(fileName);
    return names;
  });
}

test('versions are tags, and their files those of the commit', async () => {
  expect(await get(`${module}/@v/list`)).toMatchObject({ status: 200, text: 'v1.0.0\nv1.9.0\nv1.10.0\n' });
  expect((await get(`${module}/v2/@v/list`)).text).toBe('v2.0.0\n');
  expect((await get(`${module}/v3/@v/list`)).text).toBe('');
  expect(JSON.parse((await get(`${module}/@v/v1.0.0.info`)).text)).toEqual({
    Version: 'v1.0.0',
    Time: '2023-11-14T22:13:20Z',
  });
  expect((await get(`${module}/@v/v1.0.0.mod`)).text).toBe(`module ${module}\n`);
  const { status, content } = await get(`${module}/@v/v1.0.0.zip`);
  expect(status).toBe(200);
  expect(await namesIn(content)).toEqual(
    ['.gitattributes', 'LICENSE', 'go.mod', 'stone.go'].map((name) => `${module}@v1.0.0/${name}`),
  );
});

test('a module in a folder has tags of its own, and the license of the repository', async () => {
  expect((await get(`${module}/lib/@v/list`)).text).toBe('v0.1.0\n');
  expect((await get(`${module}/lib/@v/v0.1.0.mod`)).text).toBe(`module ${module}/lib\n`);
  expect(await namesIn((await get(`${module}/lib/@v/v0.1.0.zip`)).content)).toEqual(
    ['go.mod', 'lib.go', 'LICENSE'].map((name) => `${module}/lib@v0.1.0/${name}`),
  );
  expect((await get(`${module}/vendor/@v/v0.1.0.info`)).status).toBe(404);
});

test('a version may name a commit', async () => {
  const version = (time: string, commit = head) => `v0.0.0-${time}-${commit.slice(0, 12)}`;
  expect((await get(`${module}/@v/${version('20231114221320')}.info`)).status).toBe(200);
  expect((await get(`${module}/@v/${version('20231114221321')}.info`)).status).toBe(404);
  expect((await get(`${module}/@v/${version('20231114221320', 'a'.repeat(12))}.info`)).status).toBe(404);
});

test('the newest version is a release, or else the commit of the default branch', async () => {
  const newest = async (path: string) => JSON.parse((await get(`${module}${path}/@latest`)).text);
  expect(await newest('')).toEqual({ Version: 'v1.10.0', Time: '2023-11-14T22:13:20Z' });
  expect((await newest('/lib')).Version).toBe('v0.1.0');
  expect((await newest('/v2')).Version).toBe('v2.0.0');
  const { Version } = await newest('/v3');
  expect(Version).toBe(`v3.0.0-20231114221320-${head.slice(0, 12)}`);
  // What it says can be fetched.
  expect((await get(`${module}/v3/@v/${Version}.zip`)).status).toBe(200);
  expect((await get(`${module}/@latest`, {})).status).toBe(401);
});

test('what is not there', async () => {
  for (const path of [
    '@v/v1.1.0.info',
    '@v/v1.1.0.zip',
    '@v/main.info',
    'other/@latest',
    'other/@v/v0.1.0.mod',
  ])
    expect((await get(`${module}/${path}`)).status).toBe(404);
  expect((await get('example.com/other/@v/list')).status).toBe(404);
});

test('who fetches: those who read packages and code', async () => {
  const address = `${module}/@v/v1.0.0.zip`;
  for (const headers of [own(developer), basic(reporter.username, reporter.token)])
    expect((await get(address, headers)).status).toBe(200);
  expect((await get(address, {})).status).toBe(401);
  expect((await get(address, own(guest))).status).toBe(403);
  const made = await app.as(maintainer.token)(`POST /projects/${project.id}/deploy_tokens`, {
    body: { name: 'd', scopes: ['read_package_registry'] },
  });
  const deploy = bodyOf(made, 201) as unknown as { username: string; token: string };
  expect((await get(address, basic(deploy.username, deploy.token))).status).toBe(403);
  await openToAll(app, { group, project });
  expect((await get(address, {})).status).toBe(200);
  const settings = {
    repository_access_level: 'private',
    merge_requests_access_level: 'private',
    builds_access_level: 'private',
  };
  bodyOf(await app.root(`PUT /projects/${project.id}`, { body: settings }), 200);
  expect((await get(address, {})).status).toBe(401);
  expect((await get(address, own(guest))).status).toBe(403);
  expect((await get(address, own(reporter))).status).toBe(200);
});

test('whether a client has an archive already is told without looking at its files', async () => {
  const url = `${app.url}/api/v4/projects/${project.id}/packages/go/${module}/@v/v1.0.0.zip`;
  const headers = basic('any', reporter.token);
  const head = await fetch(url, { method: 'HEAD', headers });
  expect(head.status).toBe(200);
  const etag = head.headers.get('etag') ?? '';
  expect((await fetch(url, { headers: { ...headers, 'if-none-match': etag } })).status).toBe(304);
});
