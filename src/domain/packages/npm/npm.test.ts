/** Packages of npm as its clients publish, read, tag, deprecate and unpublish them, and what an attacker would try. */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { beforeEach, expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeGroup, makeMembers, makeProject, makeUser } from '../../../../test/support/factories.ts';
import { bearer, makeTeam, type Team } from '../../../../test/support/packages.ts';
import { makeRunner, startPipeline } from '../../../../test/support/runner.ts';
import { tarFile } from '../../../../test/support/tar.ts';

const app: TestApp = useApp();
let { group, project, maintainer, developer, reporter, guest } = {} as Team;
let scoped: string;

beforeEach(async () => {
  ({ group, project, maintainer, developer, reporter, guest } = await makeTeam(app));
  scoped = `@${group.full_path}/stone`;
});

const tarball = (name: string, version: string): Buffer =>
  gzipSync(tarFile({ name: 'package/package.json', content: JSON.stringify({ name, version }) }));
/** As npm computes them. */
const digestsOf = (content: Buffer) => ({
  integrity: `sha512-${createHash('sha512').update(content).digest('base64')}`,
  shasum: createHash('sha1').update(content).digest('hex'),
});

type Fields = Record<string, unknown>;

/** As npm sends it. */
const documentOf = (
  name: string,
  version: string,
  { tag = 'latest', data = tarball(name, version), ...manifest }: Fields = {},
) => ({
  _id: name,
  name,
  description: 'Dark.',
  'dist-tags': { [String(tag)]: version },
  versions: {
    [version]: {
      name,
      version,
      readme: 'Read me.',
      dependencies: { granite: '^1.0.0' },
      dist: { ...digestsOf(data as Buffer), tarball: 'http://elsewhere.example/' },
      ...manifest,
    },
  },
  _attachments: {
    [`${name}-${version}.tgz`]: {
      content_type: 'application/octet-stream',
      data: (data as Buffer).toString('base64'),
      length: (data as Buffer).length,
    },
  },
});

const ofProject = () => `/projects/${project.id}/packages/npm`;
const ofGroup = () => `/groups/${group.id}/-/packages/npm`;
const ofInstance = () => '/packages/npm';
const places = () => [ofProject(), ofGroup(), ofInstance()];

async function send(
  line: string,
  { token }: { token?: string } = {},
  body?: unknown,
  headers: Record<string, string> = {},
) {
  const [method = '', path = ''] = line.split(' ');
  const response = await fetch(`${app.url}/api/v4${path}`, {
    method,
    headers: {
      ...(token !== undefined && bearer({ token })),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return { status: response.status, body: isJson ? JSON.parse(text) : text };
}

const encoded = (name: string) => encodeURIComponent(name);
const publish = (name: string, version: string, fields: Fields = {}, as: { token?: string } = developer) =>
  send(`PUT ${ofProject()}/${encoded(name)}`, as, documentOf(name, version, fields));

test('what is published is read at each level, by its name with either slash', async () => {
  expect(await publish(scoped, '1.0.0', { scripts: { install: 'x' } })).toEqual({
    status: 200,
    body: { ok: true },
  });
  expect((await publish(scoped, '1.10.0', { tag: 'next' })).status).toBe(200);
  const address = (version: string) => `${app.url}/api/v4${ofProject()}/${scoped}/-/${scoped}-${version}.tgz`;
  for (const place of places()) {
    for (const name of [encoded(scoped), scoped, encoded(scoped).replace('%40', '@').replace('%2F', '%2f')]) {
      const { status, body } = await send(`GET ${place}/${name}`, reporter);
      expect(status).toBe(200);
      expect(body).toEqual({
        _id: scoped,
        _rev: expect.any(String),
        name: scoped,
        'dist-tags': { latest: '1.0.0', next: '1.10.0' },
        time: {
          created: expect.any(String),
          modified: expect.any(String),
          '1.0.0': expect.any(String),
          '1.10.0': expect.any(String),
        },
        versions: {
          '1.0.0': {
            name: scoped,
            version: '1.0.0',
            dependencies: { granite: '^1.0.0' },
            scripts: { install: 'x' },
            hasInstallScript: true,
            dist: { ...digestsOf(tarball(scoped, '1.0.0')), tarball: address('1.0.0') },
          },
          '1.10.0': {
            name: scoped,
            version: '1.10.0',
            dependencies: { granite: '^1.0.0' },
            dist: { ...digestsOf(tarball(scoped, '1.10.0')), tarball: address('1.10.0') },
          },
        },
      });
    }
    expect(await send(`GET ${place}/@${group.full_path}%2Fother`, reporter)).toEqual({
      status: 404,
      body: { message: '404 Packages Not Found', error: 'Packages not found' },
    });
  }
  const got = await fetch(address('1.0.0'), { headers: bearer(reporter) });
  expect(Buffer.from(await got.arrayBuffer())).toEqual(tarball(scoped, '1.0.0'));
  expect((await fetch(address('1.0.1'), { headers: bearer(reporter) })).status).toBe(404);
  const listed = bodyOf(await app.as(reporter.token)(`GET /projects/${project.id}/packages`), 200);
  expect(listed).toMatchObject([
    { name: scoped, version: '1.0.0', package_type: 'npm', tags: [{ name: 'latest' }] },
    { name: scoped, version: '1.10.0', tags: [{ name: 'next' }] },
  ]);
});

test('the instance knows names by the path of their group alone', async () => {
  await publish('stone', '1.0.0');
  await publish('@elsewhere/stone', '1.0.0');
  for (const name of ['stone', '@elsewhere%2Fstone']) {
    expect((await send(`GET ${ofGroup()}/${name}`, reporter)).status).toBe(200);
    expect((await send(`GET ${ofInstance()}/${name}`, reporter)).status).toBe(404);
  }
});

test('latest is the highest version where no version has the tag', async () => {
  await publish('stone', '2.0.0', { tag: 'next' });
  await publish('stone', '10.0.0', { tag: 'beta' });
  await publish('stone', '3.0.0', { tag: 'beta' });
  expect((await send(`GET ${ofProject()}/-/package/stone/dist-tags`, reporter)).body).toEqual({
    latest: '10.0.0',
    next: '2.0.0',
    beta: '3.0.0',
  });
});

test('a version is published once, and what is wrong is told', async () => {
  await publish('stone', '1.0.0');
  const again = { message: 'Package already exists.', error: 'Package already exists.' };
  expect(await publish('stone', '1.0.0')).toEqual({ status: 403, body: again });
  const good = documentOf('stone', '1.0.1');
  const [attachment] = Object.values(good._attachments);
  const key = 'stone-1.0.1.tgz';
  const wrong: [unknown, string][] = [
    [{}, 'Version is empty.'],
    [{ ...good, versions: {} }, 'Version is empty.'],
    [{ ...good, versions: { 'v1.0': good.versions['1.0.1'] } }, 'SemVer'],
    [{ ...good, name: 'other' }, 'address'],
    [{ ...good, _attachments: undefined }, 'Attachment data is empty.'],
    [{ ...good, _attachments: { [key]: { ...attachment, data: '' } } }, 'Attachment data is empty.'],
    [{ ...good, _attachments: { 'stone-1.0.2.tgz': attachment } }, 'Attachment data is empty.'],
    [{ ...good, _attachments: { [key]: attachment, 'a.tgz': attachment } }, 'more than one'],
    [{ ...good, _attachments: { [key]: { ...attachment, data: 'x-y' } } }, 'base64'],
    [{ ...good, _attachments: { [key]: { ...attachment, length: 6 } } }, 'length'],
    [{ ...good, _attachments: { [key]: { data: 'AAAA' } } }, 'dist.shasum'],
    [documentOf('stone', '1.0.1', { dist: { integrity: 'sha512-x' } }), 'dist.integrity'],
    [documentOf('stone', '1.0.1', { tag: '1.0.0' }), 'Tag'],
    [documentOf('stone', '1.0.1', { keywords: ['x'.repeat(20_000)] }), 'too large'],
    [{ ...good, readme: 'x'.repeat(2_200_000) }, 'longer than'],
    [{ ...good, a: JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`) }, 'nested deeper'],
    [JSON.stringify(good).slice(0, -1), 'malformed'],
    [JSON.stringify(good).slice(0, JSON.stringify(good).indexOf('"data":"') + 12), 'malformed'],
    ['', 'Version is empty.'],
    ['7', 'not an object'],
  ];
  for (const [body, message] of wrong) {
    const refused = await send(`PUT ${ofProject()}/stone`, developer, body);
    expect([refused.status, refused.body.message], message).toEqual([400, expect.stringContaining(message)]);
  }
  expect((await send(`PUT ${ofProject()}/sto%20ne`, developer, documentOf('sto ne', '1.0.0'))).status).toBe(
    400,
  );
  expect((await send(`PUT ${ofProject()}/a/b/c`, developer, good)).status).toBe(404);
  expect((await send(`GET ${ofProject()}/stone`, reporter)).body['dist-tags']).toEqual({ latest: '1.0.0' });
  expect((await publish('stone', '1.0.1')).status).toBe(200);
});

test('a signature beside the file passes by', async () => {
  const document = documentOf('stone', '1.0.0');
  const _attachments = { ...document._attachments, 'stone-1.0.0.sigstore': { data: '{"a":1}' } };
  expect((await send(`PUT ${ofProject()}/stone`, developer, { ...document, _attachments })).status).toBe(200);
});

test('a name of the scope of a group is that of one project below it', async () => {
  const other = await makeProject(app, { namespace_id: group.id });
  await publish(scoped, '1.0.0');
  const line = `PUT /projects/${other.id}/packages/npm/${encoded(scoped)}`;
  const { developer: theirs } = await makeMembers(app, `projects/${other.id}`, 'developer');
  expect((await send(line, theirs, documentOf(scoped, '1.0.1'))).status).toBe(403);
  expect(
    (await send(`PUT /projects/${other.id}/packages/npm/a`, theirs, documentOf('a', '1.0.1'))).status,
  ).toBe(200);
});

test('tags are set, moved and removed at each level', async () => {
  await publish(scoped, '1.0.0');
  await publish(scoped, '1.1.0', { tag: 'next' });
  for (const place of places()) {
    const tags = `${place}/-/package/${encoded(scoped)}/dist-tags`;
    const set = (tag: string, version: unknown, as = developer) =>
      send(`PUT ${tags}/${tag}`, as, JSON.stringify(version));
    expect((await set('old', '1.0.0')).status).toBe(204);
    expect((await set('latest', '1.1.0')).status).toBe(204);
    const expected = { latest: '1.1.0', next: '1.1.0', old: '1.0.0' };
    expect(await send(`GET ${tags}`, reporter)).toEqual({ status: 200, body: expected });
    expect((await set('latest', '1.0.0')).status).toBe(204);
    expect(await set('old', '7.0.0')).toEqual({
      status: 404,
      body: { message: '404 Package Not Found', error: 'Package not found' },
    });
    expect(await set('old', {})).toEqual({
      status: 400,
      body: { message: '400 Bad request - "Version" not given', error: '"Version" not given' },
    });
    expect((await set('1.0.0', '1.0.0')).status).toBe(400);
    expect((await set('old', '1.0.0', reporter)).status).toBe(403);
    expect((await send(`DELETE ${tags}/old`, developer)).status).toBe(403);
    expect((await send(`DELETE ${tags}/old`, maintainer)).status).toBe(204);
    expect(await send(`DELETE ${tags}/old`, maintainer)).toMatchObject({
      status: 404,
      body: { error: 'Package tag not found' },
    });
    expect((await send(`GET ${tags}`)).status).toBe(place === ofInstance() ? 404 : 401);
    expect((await send(`PUT ${tags}/old`, {}, '"1.0.0"')).status).toBe(place === ofInstance() ? 404 : 401);
  }
});

test('versions are deprecated, and no longer', async () => {
  await publish('stone', '1.0.0');
  await publish('stone', '1.1.0');
  const set = (versions: unknown, as = maintainer) =>
    send(`PUT ${ofProject()}/stone`, as, { versions }, { 'npm-command': 'deprecate' });
  expect((await set({ '1.0.0': { deprecated: 'Too "soft".' } }, developer)).status).toBe(403);
  expect((await set({ '1.0.0': {} })).body.error).toBe('package versions to deprecate missing');
  expect((await set({ '1.0.0': { deprecated: 'Too "soft".' }, '1.1.0': {} })).status).toBe(200);
  const { body } = await send(`GET ${ofProject()}/stone`, reporter);
  expect(body.versions['1.0.0'].deprecated).toBe('Too "soft".');
  expect(body.versions['1.1.0']).not.toHaveProperty('deprecated');
  const statuses = async () =>
    (
      bodyOf(await app.as(reporter.token)(`GET /projects/${project.id}/packages`), 200) as unknown as Fields[]
    ).map(({ status }) => status);
  expect(await statuses()).toEqual(['deprecated', 'default']);
  expect((await set({ '1.0.0': { deprecated: '' } })).status).toBe(200);
  expect(await statuses()).toEqual(['default', 'default']);
  const after = await send(`GET ${ofProject()}/stone`, reporter);
  expect(after.body.versions['1.0.0']).not.toHaveProperty('deprecated');
});

test('a version is unpublished by its file, a package by what was seen of it', async () => {
  await publish(scoped, '1.0.0');
  await publish(scoped, '1.1.0');
  await publish(scoped, '1.2.0');
  const name = encoded(scoped);
  const seen = async () => (await send(`GET ${ofProject()}/${name}?write=true`, maintainer)).body;
  const document = await seen();
  expect(document.versions['1.0.0']).not.toHaveProperty('dependencies');
  const file = `${ofProject()}/${scoped}/-/${scoped}-1.2.0.tgz/-rev/${document._rev}`;
  expect((await send(`PUT ${ofProject()}/${name}/-rev/1`, developer, document)).status).toBe(403);
  expect((await send(`PUT ${ofProject()}/${name}/-rev/1`, maintainer, document)).status).toBe(200);
  expect((await send(`DELETE ${file}`, developer)).status).toBe(403);
  expect((await send(`DELETE ${file}`, maintainer)).status).toBe(204);
  expect((await send(`DELETE ${file}`, maintainer)).status).toBe(404);
  const { _rev, versions } = await seen();
  expect(Object.keys(versions)).toEqual(['1.0.0', '1.1.0']);
  await publish(scoped, '1.3.0');
  const whole = (revision: string) => `DELETE ${ofProject()}/${name}/-rev/${revision}`;
  expect((await send(whole(_rev), maintainer)).status).toBe(409);
  expect((await send(whole((await seen())._rev), maintainer)).status).toBe(204);
  expect((await send(`GET ${ofProject()}/${name}`, maintainer)).status).toBe(404);
  expect((await publish(scoped, '1.0.0')).status).toBe(200);
});

test('protection rules keep roles from names', async () => {
  await publish('stone', '1.0.0');
  const rule = {
    package_name_pattern: 'stone*',
    package_type: 'npm',
    minimum_access_level_for_push: 'maintainer',
    minimum_access_level_for_delete: 'owner',
  };
  const path = `/projects/${project.id}/packages/protection/rules`;
  bodyOf(await app.as(maintainer.token)(`POST ${path}`, { body: rule }), 201);
  const refused = { status: 403, body: { message: 'Package protected.', error: 'Package protected.' } };
  const tags = `${ofProject()}/-/package/stone/dist-tags`;
  expect(await publish('stone', '1.0.1')).toEqual(refused);
  expect(await send(`PUT ${tags}/a`, developer, '"1.0.0"')).toEqual(refused);
  expect((await publish('stone', '1.0.1', {}, maintainer)).status).toBe(200);
  expect((await send(`DELETE ${tags}/latest`, maintainer)).status).toBe(403);
  const { body } = await send(`GET ${ofProject()}/stone?write=true`, maintainer);
  expect((await send(`DELETE ${ofProject()}/stone/-rev/${body._rev}`, maintainer)).status).toBe(403);
});

test('ping, whoami and audits', async () => {
  for (const place of places()) {
    expect(await send(`GET ${place}/-/ping?write=true`, reporter)).toEqual({ status: 200, body: {} });
    expect((await send(`GET ${place}/-/whoami`, reporter)).body).toEqual({ username: reporter.username });
    expect((await send(`GET ${place}/-/whoami`)).status).toBe(401);
    for (const path of ['advisories/bulk', 'audits/quick']) {
      const line = `POST ${place}/-/npm/v1/security/${path}`;
      expect(await send(line, reporter, { stone: ['1.0.0'] })).toEqual({ status: 200, body: [] });
      expect((await send(line, {}, {})).status).toBe(401);
    }
  }
});

async function deployToken(path: string, ...scopes: string[]): Promise<{ username: string; token: string }> {
  return bodyOf(await app.root(`POST ${path}/deploy_tokens`, { body: { name: 'd', scopes } }), 201) as never;
}

test('deploy tokens publish and read, and delete nothing', async () => {
  const token = await deployToken(`/groups/${group.id}`, 'read_package_registry', 'write_package_registry');
  expect((await publish(scoped, '1.0.0', {}, token)).status).toBe(200);
  for (const place of places()) {
    expect((await send(`GET ${place}/${encoded(scoped)}`, token)).status).toBe(200);
    expect((await send(`GET ${place}/-/whoami`, token)).body).toEqual({ username: token.username });
    const tag = `${place}/-/package/${encoded(scoped)}/dist-tags/old`;
    expect((await send(`PUT ${tag}`, token, '"1.0.0"')).status).toBe(204);
    expect((await send(`DELETE ${tag}`, token)).status).toBe(403);
  }
  const { body } = await send(`GET ${ofProject()}/${encoded(scoped)}?write=true`, token);
  expect((await send(`DELETE ${ofProject()}/${encoded(scoped)}/-rev/${body._rev}`, token)).status).toBe(403);
  const reads = await deployToken(`/projects/${project.id}`, 'read_package_registry');
  expect((await publish(scoped, '1.0.1', {}, reads)).status).toBe(403);
  const elsewhere = await deployToken(`/groups/${(await makeGroup(app)).id}`, 'read_package_registry');
  expect((await send(`GET ${ofProject()}/${encoded(scoped)}`, elsewhere)).status).toBe(404);
  expect((await send(`GET ${ofInstance()}/${encoded(scoped)}`, elsewhere)).status).toBe(404);
});

test('a job publishes, and its pipeline is known', async () => {
  const runner = await makeRunner(app, project);
  await startPipeline(app, project, maintainer, 'build: { script: ["true"] }');
  const { token: secret } = await runner.take();
  const token = { token: secret };
  expect((await publish(scoped, '1.0.0', {}, token)).status).toBe(200);
  const [row] = bodyOf(await app.root(`GET /projects/${project.id}/packages`), 200) as unknown as Fields[];
  expect(row?.pipelines).toHaveLength(1);
  for (const place of places())
    expect((await send(`GET ${place}/${encoded(scoped)}`, token)).status).toBe(200);
});

test('who reads and publishes', async () => {
  await publish(scoped, '1.0.0');
  const name = encoded(scoped);
  const outsider = await makeUser(app);
  const statuses = async (as: { token?: string }) =>
    Promise.all(places().map(async (place) => (await send(`GET ${place}/${name}`, as)).status));
  expect(await statuses({})).toEqual([401, 401, 404]);
  expect(await statuses({ token: 'wrong' })).toEqual([401, 401, 401]);
  expect(await statuses(outsider)).toEqual([404, 404, 404]);
  expect(await statuses(guest)).toEqual([403, 404, 404]);
  expect((await publish(scoped, '1.0.1', {}, reporter)).status).toBe(403);
  expect((await publish(scoped, '1.0.1', {}, outsider)).status).toBe(404);
  expect((await publish(scoped, '1.0.1', {}, {})).status).toBe(401);
  bodyOf(await app.root(`PUT /groups/${group.id}`, { body: { visibility: 'public' } }), 200);
  bodyOf(await app.root(`PUT /projects/${project.id}`, { body: { visibility: 'public' } }), 200);
  expect(await statuses({})).toEqual([200, 200, 200]);
  const tarball = `${ofProject()}/${scoped}/-/${scoped}-1.0.0.tgz`;
  expect((await send(`GET ${tarball}`)).status).toBe(200);
  expect((await publish(scoped, '1.0.1', {}, {})).status).toBe(401);
  expect((await publish(scoped, '1.0.1', {}, outsider)).status).toBe(403);
});

test('a tarball of another package is published for nobody', async () => {
  expect((await publish(scoped, '1.0.0')).status).toBe(200);
  const wrong = [
    tarball('other', '1.0.1'),
    tarball(scoped, '1.0.0'),
    gzipSync(tarFile({ name: 'package/index.js', content: '' })),
    gzipSync(Buffer.from('stone')),
    Buffer.from('stone'),
  ];
  for (const [at, data] of wrong.entries())
    expect((await publish(scoped, `1.0.${at + 1}`, { data })).status).toBe(200);
  const { body } = await send(`GET ${ofProject()}/${encoded(scoped)}`, reporter);
  expect(Object.keys(body.versions)).toEqual(['1.0.0']);
  expect(body['dist-tags']).toEqual({ latest: '1.0.0' });
  const path = `GET ${ofProject()}/${scoped}/-/${scoped}-1.0.1.tgz`;
  expect((await send(path, reporter)).status).toBe(404);
  const listed = bodyOf(
    await app.as(reporter.token)(`GET /projects/${project.id}/packages?status=error`),
    200,
  );
  expect(listed).toHaveLength(wrong.length);
  const { sql } = app.app.services.database;
  const rows = await sql<{ status_message: string }[]>`
    select status_message from packages where project_id = ${project.id} and status = 'error' order by id`;
  expect(rows.map(({ status_message }) => status_message)).toEqual([
    'package.json mismatch: the name is another one',
    'package.json mismatch: the version is another one',
    'package.json mismatch: there is none',
    'package.json mismatch: the tarball is not a tar file',
    'package.json mismatch: the tarball is not packed by gzip',
  ]);
  expect((await publish(scoped, '1.0.1')).status).toBe(403);
});
