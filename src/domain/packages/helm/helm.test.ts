/** Charts as programs publish them in channels, read their index and fetch them. */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import { bodyOf } from '../../../../test/support/factories.ts';
import { basic, makeTeam, openToAll, own, type Team } from '../../../../test/support/packages.ts';
import { tarFile } from '../../../../test/support/tar.ts';

const app: TestApp = useApp();
let { group, project, maintainer, developer, reporter, guest } = {} as Team;

beforeEach(async () => {
  ({ group, project, maintainer, developer, reporter, guest } = await makeTeam(app));
});

const root = () => `${app.url}/api/v4/projects/${project.id}/packages/helm`;

const archive = (description: string): Buffer =>
  gzipSync(
    tarFile(
      { name: 'app/values.yaml', content: 'a: b\n' },
      { name: 'app/Chart.yaml', content: description },
      { name: 'app/charts/b/Chart.yaml', content: 'name: b\nversion: 9.9.9\n' },
    ),
  );
const chart = (version: string, more = '') =>
  archive(`apiVersion: v2\nname: app\nversion: ${version}\n${more}`);

async function publish(content: Buffer, headers = own(developer), channel = 'stable', field = 'chart') {
  const form = new FormData();
  form.set(field, new Blob([new Uint8Array(content)]), 'anything.tgz');
  const response = await fetch(`${root()}/api/${channel}/charts`, { method: 'POST', headers, body: form });
  return { status: response.status, body: JSON.parse(await response.text()) };
}
async function get(path: string, headers = own(reporter)) {
  const response = await fetch(`${root()}/${path}`, { headers });
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    content: Buffer.from(await response.arrayBuffer()),
  };
}
const index = async (channel = 'stable', headers = own(reporter)) => {
  const { status, content } = await get(`${channel}/index.yaml`, headers);
  expect(status).toBe(200);
  return parse(content.toString()) as { entries: Record<string, { [name: string]: unknown }[]> };
};

test('a chart is published, in the index of its channel, and fetched', async () => {
  const content = chart('1.0.0', 'appVersion: 2.10\n');
  expect(await publish(content)).toEqual({ status: 201, body: { message: '201 Created' } });
  await publish(chart('1.1.0'));
  await publish(chart('2.0.0'), own(developer), 'devel');
  expect((await get('stable/index.yaml')).type).toBe('text/yaml');
  const { entries } = await index();
  expect(entries).toMatchObject({
    app: [
      { version: '1.1.0' },
      {
        apiVersion: 'v2',
        name: 'app',
        version: '1.0.0',
        appVersion: '2.10',
        created: expect.any(String),
        digest: createHash('sha256').update(content).digest('hex'),
        urls: ['charts/app-1.0.0.tgz'],
      },
    ],
  });
  expect((await get('stable/charts/app-1.0.0.tgz')).content).toEqual(content);
  expect((await get('devel/charts/app-1.0.0.tgz')).status).toBe(404);
  expect((await get('stable/charts/..%2Fapp-1.0.0.tgz')).status).toBe(404);
  expect((await index('devel')).entries).toMatchObject({ app: [{ version: '2.0.0' }] });
  expect((await index('other')).entries).toEqual({});
  const listed = bodyOf(await app.as(reporter.token)(`GET /projects/${project.id}/packages`), 200);
  expect(listed).toMatchObject([
    { name: 'app', version: '1.0.0', package_type: 'helm' },
    { version: '1.1.0' },
    { version: '2.0.0' },
  ]);
});

test('a version that comes again takes the place of the one before', async () => {
  await publish(chart('1.0.0', 'description: old\n'));
  const newer = chart('1.0.0', 'description: new\n');
  await publish(newer);
  expect((await index()).entries.app).toMatchObject([{ description: 'new' }]);
  expect((await get('stable/charts/app-1.0.0.tgz')).content).toEqual(newer);
});

test('what is no chart is told, and not kept', async () => {
  expect(await publish(Buffer.from('granite'))).toMatchObject({
    status: 400,
    body: { message: '400 Bad request - chart is not a tar file that gzip packed' },
  });
  expect((await publish(archive('name: ../app\nversion: 1.0.0\n'))).status).toBe(400);
  expect((await publish(gzipSync(tarFile()))).status).toBe(400);
  expect(await publish(chart('1.0.0'), own(developer), 'stable', 'other')).toMatchObject({
    status: 400,
    body: { message: '400 Bad request - chart is missing' },
  });
  expect(await publish(Buffer.alloc(5_242_881))).toMatchObject({
    status: 400,
    body: { message: '400 Bad request - File is too large' },
  });
  expect((await publish(chart('1.0.0'), own(developer), '..%2Fx')).status).toBe(400);
  expect((await get('a%2Fb/index.yaml')).status).toBe(400);
  expect(bodyOf(await app.as(reporter.token)(`GET /projects/${project.id}/packages`), 200)).toEqual([]);
});

test('who fetches and publishes', async () => {
  await publish(chart('1.0.0'));
  const tokens = `POST /projects/${project.id}/deploy_tokens`;
  const body = { name: 'd', scopes: ['read_package_registry'] };
  const deploy = bodyOf(await app.as(maintainer.token)(tokens, { body }), 201) as unknown as {
    username: string;
    token: string;
  };
  const { sql } = app.app.services.database;
  const digest = createHash('sha256').update('glcbt-of-the-charts').digest();
  await sql`insert into access_tokens (kind, digest, user_id, project_id, name, scopes, created_at, updated_at)
    select 'job', ${digest}, id, ${project.id}, 'job', '{}', now(), now() from users where username = ${developer.username}`;
  const job = basic('gitlab-ci-token', 'glcbt-of-the-charts');
  for (const headers of [basic(deploy.username, deploy.token), basic('x', reporter.token), job])
    for (const path of ['stable/index.yaml', 'stable/charts/app-1.0.0.tgz'])
      expect((await get(path, headers)).status).toBe(200);
  for (const [headers, status] of [
    [{}, 401],
    [own(guest), 403],
  ] as const)
    for (const path of ['stable/index.yaml', 'stable/charts/app-1.0.0.tgz'])
      expect((await get(path, headers)).status).toBe(status);
  expect((await publish(chart('1.1.0'), job)).status).toBe(201);
  expect((await publish(chart('1.1.0'), basic(deploy.username, deploy.token))).status).toBe(403);
  expect((await publish(chart('1.1.0'), own(reporter))).status).toBe(403);
  expect((await publish(chart('1.1.0'), {})).status).toBe(401);
  await openToAll(app, { group, project });
  expect((await index('stable', {})).entries.app).toHaveLength(2);
});
