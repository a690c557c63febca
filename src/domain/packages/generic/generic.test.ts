/** Generic packages as programs publish and fetch them, with each credential, and what an attacker would try. */
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeGroup, makeMembers, makeProject, makeUser } from '../../../../test/support/factories.ts';
import {
  basic,
  type Headers,
  makeTeam,
  openToAll,
  own,
  type Team,
} from '../../../../test/support/packages.ts';

const app: TestApp = useApp();
let { group, project, maintainer, developer, reporter, guest } = {} as Team;

beforeEach(async () => {
  ({ group, project, maintainer, developer, reporter, guest } = await makeTeam(app));
});

const address = (rest: string): string => `${app.url}/api/v4/projects/${project.id}/packages/generic/${rest}`;

async function send(method: string, rest: string, headers: Headers, body?: Buffer | FormData) {
  const sent = Buffer.isBuffer(body) ? new Uint8Array(body) : body;
  const response = await fetch(address(rest), { method, headers, ...(sent && { body: sent }) });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const put = (rest: string, content: string | Buffer, headers: Headers = own(developer)) =>
  send('PUT', rest, headers, Buffer.from(content));
const get = (rest: string, headers: Headers = own(reporter)) => send('GET', rest, headers);

const packages = async (user = developer) =>
  bodyOf(await app.as(user.token)(`GET /projects/${project.id}/packages`), 200) as unknown as {
    id: number;
    name: string;
  }[];

test('a file is published, listed, fetched and deleted', async () => {
  const content = Buffer.from([0, 255, 10, 13, 7]);
  expect(await put('app/1.0/app.bin', content)).toMatchObject({
    status: 201,
    text: '{"message":"201 Created"}',
  });
  const fetched = await get('app/1.0/app.bin');
  expect(fetched.status).toBe(200);
  expect(fetched.headers.get('content-disposition')).toBe('attachment; filename="app.bin"');
  const [row] = await packages();
  expect(row).toMatchObject({
    name: 'app',
    version: '1.0',
    package_type: 'generic',
    status: 'default',
    tags: [],
    pipelines: [],
    _links: { web_path: `/${project.path_with_namespace}/-/packages/${row?.id}` },
  });
  const path = `/projects/${project.id}/packages/${row?.id}`;
  const files = bodyOf(await app.as(reporter.token)(`GET ${path}/package_files`), 200);
  expect(files).toMatchObject([
    {
      file_name: 'app.bin',
      size: 5,
      file_md5: createHash('md5').update(content).digest('hex'),
      file_sha1: createHash('sha1').update(content).digest('hex'),
      file_sha256: createHash('sha256').update(content).digest('hex'),
    },
  ]);
  const one = bodyOf(await app.as(maintainer.token)(`GET ${path}`), 200);
  expect(one).toMatchObject({ versions: [], last_downloaded_at: expect.any(String) });
  expect((one as { _links: object })._links).toHaveProperty('delete_api_path', `${app.url}/api/v4${path}`);
  expect((await app.as(developer.token)(`DELETE ${path}`)).status).toBe(403);
  expect((await app.as(maintainer.token)(`DELETE ${path}`)).status).toBe(204);
  expect((await get('app/1.0/app.bin')).status).toBe(404);
  expect(blobs()).not.toContain(createHash('sha256').update(content).digest('hex'));
});

const blobs = (): string[] =>
  readdirSync(join(app.app.services.config.data, 'blobs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

test('the newest file of a name is served; the form and the record of a file are those of the public API', async () => {
  await put('app/1.0/dir/app', 'one');
  const form = new FormData();
  form.set('file', new Blob(['two']), 'ignored');
  const query = 'app/1.0/dir/app?select=package_file&status=hidden';
  const made = await send('PUT', query, own(developer), form);
  expect(made.status).toBe(201);
  expect(JSON.parse(made.text)).toMatchObject({ size: 3, file_name: 'dir%2Fapp', file_store: 1 });
  expect((await get('app/1.0/dir/app')).text).toBe('two');
  // A hidden package is installed, and not listed.
  expect(await packages()).toEqual([]);
});

test('what a form says beside its file', async () => {
  const form = new FormData();
  for (const [name, value] of Object.entries({ status: 'hidden', select: 'package_file' }))
    form.set(name, value);
  form.set('file', new Blob(['one']), 'ignored');
  const made = await send('PUT', 'app/1.0/app+5.zip', own(developer), form);
  expect(JSON.parse(made.text)).toMatchObject({ file_name: 'app+5.zip' });
  expect(await packages()).toEqual([]);
  expect((await get('app/1.0/app+5.zip')).headers.get('content-disposition')).toBe(
    'attachment; filename="app+5.zip"',
  );
  form.set('status', 'gone');
  expect((await send('PUT', 'app/1.0/app', own(developer), form)).status).toBe(400);
});

test('an administrator publishes as another user, and nobody else does', async () => {
  const as = (token: string): Headers => ({ 'private-token': token, sudo: developer.username });
  const { token } = await deployToken('write_package_registry');
  expect((await put('app/1.0/app', 'x', as(developer.token))).status).toBe(403);
  expect((await put('app/1.0/app', 'x', { 'deploy-token': token, sudo: developer.username })).status).toBe(
    403,
  );
  const made = await app.root('POST /users/1/personal_access_tokens', {
    body: { name: 'sudo', scopes: ['api', 'sudo'] },
  });
  expect((await put('app/1.0/app', 'x', as(bodyOf(made, 201).token))).status).toBe(201);
  const { rows } = await sql<{ creator_id: number }>`
    select creator_id from packages where project_id = ${project.id}`.execute(app.app.services.database.db);
  expect(rows).toEqual([{ creator_id: developer.id }]);
});

test('who may not see pipelines does not see which published a package', async () => {
  await put('app/1.0/app', 'x');
  const { db } = app.app.services.database;
  await sql`with p as (
      insert into pipelines (project_id, iid, sha, before_sha, ref, tag, source, status, protected, user_id, created_at, updated_at)
      values (${project.id}, 1, repeat('1', 40), repeat('0', 40), 'secret', false, 'push', 'success', false, ${developer.id},
        now(), now()) returning id)
    insert into package_file_pipelines (package_file_id, package_id, pipeline_id)
    select f.id, f.package_id, p.id from package_files f, packages k, p where k.id = f.package_id and k.project_id = ${project.id}`.execute(
    db,
  );
  const [row] = await packages();
  expect(row).toMatchObject({ pipelines: [{ ref: 'secret', user: { username: developer.username } }] });
  const changes = { package_registry_access_level: 'public' };
  bodyOf(await app.root(`PUT /projects/${project.id}`, { body: changes }), 200);
  const path = `/projects/${project.id}/packages`;
  const anonymous = await app.call(`GET ${path}`);
  expect(bodyOf(anonymous, 200)).toMatchObject([{ name: 'app', pipelines: [] }]);
  expect(anonymous.text).not.toContain('secret');
  for (const rest of ['', '/package_files'])
    expect((await app.call(`GET ${path}/${row?.id}${rest}`)).text).not.toContain('secret');
  expect((await app.as((await makeUser(app)).token)(`GET ${path}/${row?.id}/pipelines`)).status).toBe(403);
  // What is open to all is open to a deploy token of another project, too.
  const other = await makeProject(app, { visibility: 'private' });
  const scopes = ['read_package_registry'];
  const made = await app.root(`POST /projects/${other.id}/deploy_tokens`, { body: { name: 'd', scopes } });
  expect((await get('app/1.0/app', { 'deploy-token': bodyOf(made, 201).token })).status).toBe(200);
});

test('a part, and what the client has already', async () => {
  await put('app/1.0/app', 'granite');
  const part = await get('app/1.0/app', { ...own(reporter), range: 'bytes=2-4' });
  expect(part).toMatchObject({ status: 206, text: 'ani' });
  expect(part.headers.get('content-range')).toBe('bytes 2-4/7');
  expect((await get('app/1.0/app', { ...own(reporter), range: 'bytes=7-' })).status).toBe(416);
  const etag = part.headers.get('etag') ?? '';
  expect((await get('app/1.0/app', { ...own(reporter), 'if-none-match': etag })).status).toBe(304);
  const changed = { ...own(reporter), range: 'bytes=2-4', 'if-range': '"another"' };
  expect(await get('app/1.0/app', changed)).toMatchObject({ status: 200, text: 'granite' });
});

async function deployToken(...scopes: string[]): Promise<{ username: string; token: string }> {
  const path = `POST /projects/${project.id}/deploy_tokens`;
  return bodyOf(await app.as(maintainer.token)(path, { body: { name: 'd', scopes } }), 201) as never;
}

test('every form of credential', async () => {
  await put('app/1.0/app', 'granite');
  const reads = await deployToken('read_package_registry');
  const writes = await deployToken('write_package_registry');
  const granted: Headers[] = [
    own(reporter),
    { authorization: `Bearer ${reporter.token}` },
    basic(reporter.username, reporter.token),
    basic('anything', reporter.token),
    { 'deploy-token': reads.token },
    { authorization: `Bearer ${reads.token}` },
    basic(reads.username, reads.token),
  ];
  for (const headers of granted) expect((await get('app/1.0/app', headers)).status).toBe(200);
  expect((await put('app/1.1/app', 'x', basic(writes.username, writes.token))).status).toBe(201);
  const refused: [Headers, number][] = [
    [{}, 401],
    [basic('x', 'wrong'), 401],
    [basic('other', reads.token), 401],
    [basic(writes.username, writes.token), 403],
    [own(guest), 403],
    [own(await makeUser(app)), 404],
    [basic(reporter.username, 'password'), 401],
  ];
  for (const [headers, status] of refused) {
    const got = await get('app/1.0/app', headers);
    expect(got.status).toBe(status);
    expect(got.headers.get('www-authenticate')).toBe(
      status === 401 ? 'Basic realm="GitLab Packages Registry"' : null,
    );
  }
  expect((await put('app/1.2/app', 'x', basic(reads.username, reads.token))).status).toBe(403);
  expect((await put('app/1.2/app', 'x', own(reporter))).status).toBe(403);
  expect((await put('app/1.2/app', 'x', {})).status).toBe(401);
  const other = await makeProject(app, { visibility: 'private' });
  const elsewhere = `${app.url}/api/v4/projects/${other.id}/packages/generic/app/1.0/app`;
  expect((await fetch(elsewhere, { headers: basic(reads.username, reads.token) })).status).toBe(404);
});

test('who fetches follows the visibility of the project and of its registry', async () => {
  await put('app/1.0/app', 'granite');
  const set = async (changes: Record<string, string>) =>
    bodyOf(await app.root(`PUT /projects/${project.id}`, { body: changes }), 200);
  await set({ package_registry_access_level: 'public' });
  expect((await get('app/1.0/app', {})).status).toBe(200);
  expect((await put('app/1.0/app', 'x', {})).status).toBe(401);
  await set({ package_registry_access_level: 'disabled' });
  expect((await get('app/1.0/app', own(maintainer))).status).toBe(403);
  await openToAll(app, { group, project });
  await set({ package_registry_access_level: 'enabled' });
  expect((await get('app/1.0/app', {})).status).toBe(200);
  await set({ package_registry_access_level: 'private' });
  expect((await get('app/1.0/app', {})).status).toBe(401);
  expect((await get('app/1.0/app', own(await makeUser(app)))).status).toBe(403);
});

test('protection rules keep roles from names', async () => {
  const path = `/projects/${project.id}/packages/protection/rules`;
  const as = app.as(maintainer.token);
  const rule = {
    package_name_pattern: 'app*',
    package_type: 'generic',
    minimum_access_level_for_push: 'maintainer',
    minimum_access_level_for_delete: 'owner',
  };
  const made = bodyOf(await as(`POST ${path}`, { body: rule }), 201);
  expect(made).toMatchObject(rule);
  expect(await as(`POST ${path}`, { body: rule })).toMatchObject({
    status: 422,
    body: { message: { package_name_pattern: ['has already been taken'] } },
  });
  expect(await put('app-a/1.0/app', 'x')).toMatchObject({ status: 403 });
  expect((await put('app-a/1.0/app', 'x', own(maintainer))).status).toBe(201);
  const { token } = await deployToken('write_package_registry');
  expect((await put('app-a/1.0/app', 'x', { 'deploy-token': token })).status).toBe(403);
  const [row] = await packages();
  expect(await as(`DELETE /projects/${project.id}/packages/${row?.id}`)).toMatchObject({
    status: 403,
    body: { message: '403 Forbidden - Package is deletion protected.' },
  });
  const one = `${path}/${(made as { id: number }).id}`;
  const empty = { minimum_access_level_for_push: null, minimum_access_level_for_delete: null };
  expect((await as(`PATCH ${one}`, { body: empty })).status).toBe(422);
  bodyOf(await as(`PATCH ${one}`, { body: { package_name_pattern: 'other' } }), 200);
  expect((await put('app-a/1.0/app', 'x')).status).toBe(201);
  expect((await as(`DELETE ${one}`)).status).toBe(204);
});

test('a body that breaks off leaves nothing', async () => {
  const before = blobs();
  const abort = new AbortController();
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('half'));
      setTimeout(() => abort.abort(), 50);
    },
  });
  const options = { method: 'PUT', headers: own(developer), body, duplex: 'half', signal: abort.signal };
  await expect(fetch(address('app/1.0/half'), options as RequestInit)).rejects.toThrow();
  await expect.poll(blobs).toEqual(before);
  expect(await packages()).toEqual([]);
  expect((await get('app/1.0/half')).status).toBe(404);
});

test('twenty pushes of the same bytes at once are one file on disk', async () => {
  const pushed = await Promise.all(
    Array.from({ length: 20 }, (_, n) => put(`app/1.${n}/app`, 'the same bytes')),
  );
  expect(pushed.map(({ status }) => status)).toEqual(pushed.map(() => 201));
  const name = createHash('sha256').update('the same bytes').digest('hex');
  expect(blobs().filter((each) => each === name)).toHaveLength(1);
  expect(await packages()).toHaveLength(20);
});

test('a group says which packages come once', async () => {
  const owner = {
    body: { generic_duplicates_allowed: false, generic_duplicate_exception_regex: 'free|9\\..*' },
  };
  bodyOf(await app.root(`PUT /groups/${group.id}`, owner), 200);
  expect((await put('app/1.0/app.bin', 'granite')).status).toBe(201);
  expect(await put('app/1.0/app.bin', 'slate')).toMatchObject({
    status: 400,
    text: '{"message":"Duplicate package is not allowed"}',
  });
  expect((await get('app/1.0/app.bin')).text).toBe('granite');
  // Another file of the version is no duplicate.
  expect((await put('app/1.0/other.bin', 'slate')).status).toBe(201);
  for (const path of ['free/1.0/a.bin', 'app/9.1/a.bin'])
    for (const content of ['granite', 'slate']) expect((await put(path, content)).status).toBe(201);
  for (const path of ['free-stone/1.0/a.bin', 'app/19.1/a.bin'])
    expect([(await put(path, 'a')).status, (await put(path, 'b')).status]).toEqual([201, 400]);
});

test('of what comes twice at once, one is kept', async () => {
  bodyOf(await app.root(`PUT /groups/${group.id}`, { body: { generic_duplicates_allowed: false } }), 200);
  const sent = await Promise.all(['a', 'b', 'c', 'd'].map((content) => put('app/1.0/app.bin', content)));
  expect(sent.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400]);
});

test('the group nearest to the project that says something decides', async () => {
  const outer = await makeGroup(app);
  bodyOf(await app.root(`PUT /groups/${outer.id}`, { body: { generic_duplicates_allowed: false } }), 200);
  bodyOf(await app.root(`POST /groups/${group.id}/transfer`, { body: { group_id: outer.id } }), 201);
  const twice = async () => [(await put('app/1.0/a', 'a')).status, (await put('app/1.0/a', 'a')).status];
  expect(await twice()).toEqual([201, 400]);
  bodyOf(await app.root(`PUT /groups/${group.id}`, { body: { generic_duplicates_allowed: true } }), 200);
  expect(await twice()).toEqual([201, 201]);
  bodyOf(await app.root(`PUT /groups/${group.id}`, { body: { generic_duplicates_allowed: null } }), 200);
  expect(await twice()).toEqual([400, 400]);
});

test('owners set the settings of packages, and nobody else sees them', async () => {
  const { owner, maintainer: other } = await makeMembers(app, `groups/${group.id}`, 'owner', 'maintainer');
  const change = { body: { maven_duplicate_exception_regex: '1\\.0' } };
  expect((await app.as(other.token)(`PUT /groups/${group.id}`, change)).status).toBe(403);
  expect(bodyOf(await app.as(owner.token)(`PUT /groups/${group.id}`, change), 200)).toMatchObject({
    maven_duplicates_allowed: null,
    maven_duplicate_exception_regex: '1\\.0',
  });
  const name = 'maven_duplicate_exception_regex';
  expect(bodyOf(await app.as(owner.token)(`GET /groups/${group.id}`), 200)).toHaveProperty(name);
  expect(bodyOf(await app.as(other.token)(`GET /groups/${group.id}`), 200)).not.toHaveProperty(name);
  for (const [pattern, problem] of [
    ['(', 'is not valid RE2 syntax: missing closing ): `(`'],
    ['a)|(b', 'is not valid RE2 syntax: unexpected ): `a)|(b`'],
    ['(?=a)', 'is not valid RE2 syntax: invalid or unsupported Perl syntax: `(?=`'],
    ['(((a{30}){30}){30})', 'is not valid RE2 syntax: invalid repeat count: `{30}`'],
  ]) {
    const body = { nuget_duplicate_exception_regex: pattern };
    const answer = await app.as(owner.token)(`PUT /groups/${group.id}`, { body });
    expect(bodyOf(answer, 400)).toEqual({ message: { nuget_duplicate_exception_regex: [problem] } });
  }
  const long = { body: { nuget_duplicate_exception_regex: 'x'.repeat(256) } };
  expect((await app.as(owner.token)(`PUT /groups/${group.id}`, long)).status).toBe(400);
});
