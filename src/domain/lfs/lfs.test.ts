/** Git LFS as programs use it, and what an attacker would try. The program itself is in test/journeys/git-lfs.test.ts. */
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { ROOT_TOKEN, useApp } from '../../../test/support/app.ts';
import {
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeGroup,
  makeMembers,
  makeProject,
  makeUser,
  uniqueName,
} from '../../../test/support/factories.ts';
import { makeRunner, startPipeline } from '../../../test/support/runner.ts';

const app = useApp();
let project: MadeProject;
let maintainer: MadeUser;
let developer: MadeUser;
let reporter: MadeUser;

const TYPE = 'application/vnd.git-lfs+json';
const CONTENT = 'a house of stone';
const sha256 = (content: string): string => createHash('sha256').update(content).digest('hex');
const objectOf = (content: string) => ({ oid: sha256(content), size: Buffer.byteLength(content) });

type Who = { token: string; username?: string } | undefined;

const authorizationOf = (who: Who): Record<string, string> =>
  who
    ? { authorization: `Basic ${Buffer.from(`${who.username ?? 'x'}:${who.token}`).toString('base64')}` }
    : {};

/** `METHOD path` below the project's address, or a whole address that a batch gave. */
async function send(
  who: Who,
  line: string,
  body?: unknown,
  { at = project, headers = {} }: { at?: MadeProject; headers?: Record<string, string> } = {},
) {
  const [method = '', path = ''] = line.split(' ');
  const url = path.startsWith('http') ? path : `${app.url}/${at.path_with_namespace}.git/${path}`;
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: { accept: TYPE, ...authorizationOf(who), 'Content-Type': TYPE, ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json');
  // biome-ignore lint/suspicious/noExplicitAny: what the protocol says, the tests compare.
  const json: any = isJson ? JSON.parse(text) : undefined;
  return { status: response.status, text, json, headers: response.headers };
}

const batch = (who: Who, operation: 'download' | 'upload', contents: string[], at: MadeProject = project) =>
  send(who, 'POST info/lfs/objects/batch', { operation, objects: contents.map(objectOf) }, { at });

/** Brings the content as a program does. */
async function upload(who: Who, content: string, at: MadeProject = project): Promise<void> {
  const { json } = await batch(who, 'upload', [content], at);
  const { actions } = json.objects[0];
  const { href, header } = actions.upload;
  const put = await send(undefined, `PUT ${href}`, content, { headers: header });
  expect(put.status).toBe(200);
  const { oid, size } = objectOf(content);
  const verified = await send(
    undefined,
    `POST ${actions.verify.href}`,
    { oid, size },
    { headers: actions.verify.header },
  );
  expect(verified.status).toBe(200);
}

/** Whether the project lets them fetch it. */
async function reaches(who: Who, content: string, at: MadeProject = project): Promise<boolean> {
  const { oid } = objectOf(content);
  const asked = await batch(who, 'download', [content], at);
  const fetched = await send(who, `GET lfs/objects/${oid}`, undefined, { at });
  const isThere = asked.status === 200 && asked.json.objects[0].actions !== undefined;
  expect(fetched.status === 200).toBe(isThere);
  return isThere;
}

const drafts = (): string[] => readdirSync(join(app.app.services.config.data, 'blobs', 'drafts'));

const fork = async (source: MadeProject, by: MadeUser): Promise<MadeProject> =>
  bodyOf(
    await app.as(by.token)(`POST /projects/${source.id}/fork`, { body: { path: `fork-${by.username}` } }),
    201,
  ) as unknown as MadeProject;

beforeEach(async () => {
  project = await makeProject(app, { visibility: 'private' });
  ({ maintainer, developer, reporter } = await makeMembers(
    app,
    `projects/${project.id}`,
    ...(['maintainer', 'developer', 'reporter'] as const),
  ));
});

test('a file is brought, verified, counted and fetched, in parts too', async () => {
  const { oid, size } = objectOf(CONTENT);
  const first = await batch(developer, 'download', [CONTENT]);
  expect(first.headers.get('content-type')).toBe(TYPE);
  expect(first.json).toEqual({
    transfer: 'basic',
    objects: [
      {
        oid,
        size,
        error: {
          code: 404,
          message: "Object does not exist on the server or you don't have permissions to access it",
        },
      },
    ],
  });
  await upload(developer, CONTENT);
  expect((await batch(developer, 'upload', [CONTENT])).json.objects).toEqual([{ oid, size }]);
  const { json } = await batch(reporter, 'download', [CONTENT]);
  const { href, header } = json.objects[0].actions.download;
  expect([href, header]).toEqual([
    `${app.url}/${project.path_with_namespace}.git/lfs/objects/${oid}`,
    { Authorization: authorizationOf(reporter).authorization },
  ]);
  const whole = await send(undefined, `GET ${href}`, undefined, { headers: header });
  expect([whole.status, whole.text, whole.headers.get('content-type')]).toEqual([
    200,
    CONTENT,
    'application/octet-stream',
  ]);
  const rest = await send(undefined, `GET ${href}`, undefined, { headers: { ...header, range: 'bytes=2-' } });
  expect([rest.status, rest.text, rest.headers.get('content-range')]).toEqual([
    206,
    CONTENT.slice(2),
    `bytes 2-${size - 1}/${size}`,
  ]);
  const beyond = await send(undefined, `GET ${href}`, undefined, {
    headers: { ...header, range: `bytes=${size}-` },
  });
  expect(beyond.status).toBe(416);
  const record = await app.root(`GET /projects/${project.id}?statistics=true`);
  expect(bodyOf(record, 200).statistics).toMatchObject({
    lfs_objects_size: size,
    storage_size: expect.any(Number),
  });
});

test('who pushes, brings; who reads the code, fetches; others learn nothing', async () => {
  const outsider = await makeUser(app);
  const missing = { ...project, path_with_namespace: 'nobody/nothing' };
  const statuses = async (who: Who, at = project) => [
    (await batch(who, 'download', [CONTENT], at)).status,
    (await batch(who, 'upload', [CONTENT], at)).status,
    (await send(who, `PUT lfs/objects/${objectOf(CONTENT).oid}/16`, CONTENT, { at })).status,
  ];
  expect(await statuses(maintainer)).toEqual([200, 200, 200]);
  expect(await statuses(developer)).toEqual([200, 200, 200]);
  expect(await statuses(reporter)).toEqual([200, 403, 403]);
  expect(await statuses(outsider)).toEqual([404, 404, 404]);
  expect(await statuses(outsider, missing)).toEqual([404, 404, 404]);
  expect(await statuses(undefined)).toEqual([401, 401, 401]);
  expect(await statuses(undefined, missing)).toEqual([401, 401, 401]);
  expect((await batch(outsider, 'download', [CONTENT])).json.message).toBe('Not found.');
  expect((await batch(reporter, 'upload', [CONTENT])).json.message).toBe(
    'Access forbidden. Check your access level.',
  );
  const { headers } = await batch(undefined, 'download', [CONTENT]);
  expect([headers.get('lfs-authenticate'), headers.get('www-authenticate')]).toEqual([
    expect.stringMatching(/^Basic realm=/),
    expect.stringMatching(/^Basic realm=/),
  ]);
  expect((await batch({ token: 'wrong' }, 'download', [CONTENT])).status).toBe(401);

  const made = await app.root(`POST /projects/${project.id}/deploy_tokens`, {
    body: { name: 'd', scopes: ['read_repository'] },
  });
  const deploy = bodyOf(made, 201) as unknown as { token: string; username: string; id: number };
  expect(await statuses(deploy)).toEqual([200, 403, 403]);
  await app.root(`DELETE /projects/${project.id}/deploy_tokens/${deploy.id}`);
  expect(await statuses(deploy)).toEqual([401, 401, 401]);

  await app.root(`PUT /projects/${project.id}`, { body: { visibility: 'public' } });
  const open = await batch(undefined, 'download', [CONTENT]);
  expect(open.json.objects[0]).toMatchObject({ authenticated: true, actions: { download: { header: {} } } });
  expect(await statuses(undefined)).toEqual([200, 401, 401]);
  await app.root(`POST /projects/${project.id}/archive`);
  expect(await statuses(maintainer)).toEqual([200, 403, 403]);
});

test('tokens have what their scopes allow', async () => {
  const token = async (...scopes: string[]) => {
    const expires_at = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    const body = { name: 'lfs', scopes, expires_at };
    return {
      token: bodyOf(await app.root(`POST /users/${developer.id}/personal_access_tokens`, { body }), 201)
        .token as string,
    };
  };
  const statuses = async (who: Who) => [
    (await batch(who, 'download', [CONTENT])).status,
    (await batch(who, 'upload', [CONTENT])).status,
    (await send(who, 'POST info/lfs/locks/verify', {})).status,
  ];
  expect(await statuses(await token('read_repository'))).toEqual([200, 403, 403]);
  expect(await statuses(await token('write_repository'))).toEqual([200, 200, 200]);
  expect(await statuses(await token('read_api'))).toEqual([403, 403, 403]);
});

test('a job fetches in its own project, and elsewhere where it is let in; it brings where jobs push', async () => {
  const home = await makeProject(app, { visibility: 'private' });
  const members = await makeMembers(app, `projects/${home.id}`, 'maintainer');
  const runner = await makeRunner(app, home);
  await startPipeline(app, home, members.maintainer, 'build:\n  script: make');
  const job = await runner.take();
  const by = { token: job.token, username: 'gitlab-ci-token' };
  await upload(members.maintainer, CONTENT, home);
  expect(await reaches(by, CONTENT, home)).toBe(true);
  expect((await batch(by, 'upload', ['slate'], home)).status).toBe(403);
  expect((await batch(by, 'download', [CONTENT])).status).toBe(404);
  await app.root(`PUT /projects/${home.id}`, { body: { ci_push_repository_for_job_token_allowed: true } });
  expect((await batch(by, 'upload', ['slate'], home)).status).toBe(200);
  // Its token ends with it.
  await app.root(`POST /projects/${home.id}/jobs/${job.id}/cancel`);
  expect((await batch(by, 'download', [CONTENT], home)).status).toBe(401);
});

test('to know an id is not to have the object', async () => {
  await upload(developer, CONTENT);
  const other = await makeProject(app, { visibility: 'private' });
  const { owner } = await makeMembers(app, `projects/${other.id}`, 'owner');
  expect(await reaches(owner, CONTENT, other)).toBe(false);
  const { json } = await batch(owner, 'upload', [CONTENT], other);
  expect(json.objects[0].actions.upload).toBeDefined();
  // Verifying gives nobody anything.
  expect((await send(owner, 'POST info/lfs/objects/verify', objectOf(CONTENT), { at: other })).status).toBe(
    404,
  );
  const { oid, size } = objectOf(CONTENT);
  for (const wrong of ['', 'a house of ston', 'a house of sand!', `${CONTENT}.`])
    expect([
      wrong,
      (await send(owner, `PUT lfs/objects/${oid}/${size}`, wrong, { at: other })).status,
    ]).toEqual([wrong, 400]);
  expect(await reaches(owner, CONTENT, other)).toBe(false);
  await upload(owner, CONTENT, other);
  expect(await reaches(owner, CONTENT, other)).toBe(true);
  // Each keeps it, whatever becomes of the other one.
  await app.root(`DELETE /projects/${other.id}`);
  expect(await reaches(developer, CONTENT)).toBe(true);
  expect(drafts()).toEqual([]);
});

test('a fork has the objects of its source, and later ones for who reads them there', async () => {
  await app.root(`POST /projects/${project.id}/repository/files/a`, {
    body: { branch: 'main', content: 'a', commit_message: 'a' },
  });
  await upload(developer, CONTENT);
  const forked = await fork(project, reporter);
  expect(await reaches(reporter, CONTENT, forked)).toBe(true);
  await upload(developer, 'slate');
  expect(await reaches(reporter, 'slate', forked)).toBe(false);
  // Somebody else of the fork does not read the source.
  const stranger = await makeUser(app);
  bodyOf(
    await app.as(reporter.token)(`POST /projects/${forked.id}/members`, {
      body: { user_id: stranger.id, access_level: 30 },
    }),
    201,
  );
  expect((await batch(stranger, 'upload', ['slate'], forked)).json.objects[0].actions).toBeDefined();
  expect(await reaches(stranger, 'slate', forked)).toBe(false);
  expect((await batch(reporter, 'upload', ['slate'], forked)).json.objects[0].actions).toBeUndefined();
  expect(await reaches(stranger, 'slate', forked)).toBe(true);
  // What is brought to the fork is the fork's.
  await upload(reporter, 'sand', forked);
  expect(await reaches(developer, 'sand')).toBe(false);
});

test('what lies about its id or size is refused', async () => {
  const { oid } = objectOf(CONTENT);
  const put = (path: string, body = CONTENT) =>
    send(developer, `PUT lfs/objects/${path}`, body).then(({ status }) => status);
  expect(await put(`${oid.toUpperCase()}/16`)).toBe(422);
  expect(await put(`${oid.slice(1)}%00/16`)).toBe(422);
  expect(await put(`..%2f${oid.slice(3)}/16`)).toBe(422);
  expect(await put(`${oid}/-1`)).toBe(422);
  expect(await put(`${oid}/9223372036854775808`)).toBe(422);
  expect(await put(`${oid}/1e1`)).toBe(422);
  expect(await put(`${oid}/15`)).toBe(400);
  expect(await put(`${oid}/17`)).toBe(400);
  expect(await put(`${'0'.repeat(64)}/16`)).toBe(400);
  expect((await send(developer, `GET lfs/objects/${oid.toUpperCase()}`)).status).toBe(404);
  expect((await send(developer, 'GET lfs/objects/%00')).status).toBe(404);
  expect((await send(developer, 'GET lfs/objects/..%2f..%2fschema')).status).toBe(404);
  const many = Array(1_001).fill(objectOf(CONTENT));
  const ask = (objects: unknown) =>
    send(developer, 'POST info/lfs/objects/batch', { operation: 'upload', objects });
  const tooMany = await ask(many);
  expect([tooMany.status, tooMany.json.message]).toEqual([413, expect.stringContaining('1000 objects')]);
  // A million of them are more than a body may have.
  expect((await ask(Array(20_000).fill(objectOf(CONTENT)))).status).toBe(413);
  expect((await ask([])).status).toBe(404);
  expect((await send(developer, 'POST info/lfs/objects/batch', '{"oper')).status).toBe(400);
  expect((await send(developer, 'POST info/lfs/objects', {})).status).toBe(501);
  expect((await send(developer, `GET info/lfs/objects/${oid}`)).status).toBe(501);
  expect(drafts()).toEqual([]);
});

test('an upload that breaks off leaves nothing, and those at once are one', async () => {
  const { oid, size } = objectOf(CONTENT);
  const path = `/${project.path_with_namespace}.git/lfs/objects/${oid}/${size}`;
  const { port } = new URL(app.url);
  await new Promise<void>((resolve) => {
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.write(
        `PUT ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorizationOf(developer).authorization}\r\nContent-Length: ${size}\r\n\r\n${CONTENT.slice(0, 5)}`,
        () => setTimeout(() => socket.destroy(), 100),
      );
    });
    socket.on('close', () => resolve());
  });
  await expect.poll(drafts).toEqual([]);
  expect(await reaches(developer, CONTENT)).toBe(false);
  const puts = Array.from({ length: 8 }, () => send(developer, `PUT lfs/objects/${oid}/${size}`, CONTENT));
  expect((await Promise.all(puts)).map(({ status }) => status)).toEqual(Array(8).fill(200));
  expect(await reaches(developer, CONTENT)).toBe(true);
  expect(drafts()).toEqual([]);
});

test('a project, or a group around it, turns large files off', async () => {
  await app.root(`PUT /projects/${project.id}`, { body: { lfs_enabled: false } });
  expect((await batch(developer, 'download', [CONTENT])).status).toBe(403);
  expect((await batch(await makeUser(app), 'download', [CONTENT])).status).toBe(404);
  const group = await makeGroup(app);
  const below = await makeGroup(app, { parent_id: group.id });
  const other = await makeProject(app, { namespace_id: below.id });
  expect((await batch({ token: ROOT_TOKEN }, 'download', [CONTENT], other)).status).toBe(200);
  await app.root(`PUT /groups/${group.id}`, { body: { lfs_enabled: false } });
  expect((await batch({ token: ROOT_TOKEN }, 'download', [CONTENT], other)).status).toBe(403);
});

test('a project that moved is found under its old path', async () => {
  const path = uniqueName('moved');
  const moved = bodyOf(await app.root(`PUT /projects/${project.id}`, { body: { path } }), 200);
  const { status, headers } = await batch(developer, 'download', [CONTENT]);
  expect([status, headers.get('location')]).toEqual([
    308,
    `${app.url}/${moved.path_with_namespace}.git/info/lfs/objects/batch`,
  ]);
});

test('a path is locked once, listed, and unlocked by its owner or by force', async () => {
  const lock = (who: Who, path: unknown) =>
    send(who, 'POST info/lfs/locks', { path, ref: { name: 'refs/heads/main' } });
  const { status, json } = await lock(developer, 'art/a.psd');
  expect([status, json]).toEqual([
    201,
    {
      lock: {
        id: expect.stringMatching(/^\d+$/),
        path: 'art/a.psd',
        locked_at: expect.any(String),
        owner: { name: developer.username },
      },
    },
  ]);
  const again = await lock(maintainer, 'art/a.psd');
  expect([again.status, again.json]).toEqual([409, { lock: json.lock, message: 'already locked' }]);
  expect((await lock(developer, 'art/a.psd')).status).toBe(409);
  expect((await lock(reporter, 'b')).status).toBe(403);
  for (const path of ['../b', '', 'a\0b', 'a'.repeat(600), 5, undefined, '.git/config'])
    expect([path, [400, 422].includes((await lock(developer, path)).status)]).toEqual([path, true]);
  const mine = await lock(maintainer, 'b');

  const { json: list } = await send(reporter, 'GET info/lfs/locks');
  expect(list.locks.map(({ path }: { path: string }) => path)).toEqual(['art/a.psd', 'b']);
  const first = (await send(reporter, 'GET info/lfs/locks?limit=1')).json;
  expect([first.locks.length, first.next_cursor]).toEqual([1, mine.json.lock.id]);
  expect((await send(reporter, `GET info/lfs/locks?limit=1&cursor=${first.next_cursor}`)).json).toEqual({
    locks: [mine.json.lock],
  });
  expect((await send(reporter, 'GET info/lfs/locks?path=b')).json.locks).toEqual([mine.json.lock]);
  expect((await send(reporter, `GET info/lfs/locks?id=${mine.json.lock.id}`)).json.locks).toEqual([
    mine.json.lock,
  ]);
  for (const none of ['path=%00', 'id=x', 'id=99999999999999999999', 'path=art'])
    expect((await send(reporter, `GET info/lfs/locks?${none}`)).json).toEqual({ locks: [] });
  expect((await send(reporter, 'GET info/lfs/locks?cursor=x')).status).toBe(422);
  const sides = (await send(developer, 'POST info/lfs/locks/verify', {})).json;
  expect([sides.ours.length, sides.theirs]).toEqual([1, [mine.json.lock]]);
  expect((await send(reporter, 'POST info/lfs/locks/verify', {})).status).toBe(403);
  expect((await send(await makeUser(app), 'GET info/lfs/locks')).status).toBe(404);

  const unlock = (who: Who, id: unknown, force?: boolean) =>
    send(who, `POST info/lfs/locks/${id}/unlock`, { force });
  const refused = await unlock(developer, mine.json.lock.id);
  expect([refused.status, refused.json.message]).toEqual([403, `b is locked by @${maintainer.username}`]);
  expect((await unlock(developer, mine.json.lock.id, true)).status).toBe(403);
  expect((await unlock(developer, 'x')).json.message).toBe('Lock not found');
  const elsewhere = await makeProject(app, {});
  expect((await send(undefined, 'GET info/lfs/locks', undefined, { at: elsewhere })).status).toBe(401);
  expect((await unlock(maintainer, json.lock.id, true)).json).toEqual({ lock: json.lock });
  expect((await unlock(maintainer, json.lock.id, true)).status).toBe(404);
  expect((await unlock(maintainer, mine.json.lock.id)).status).toBe(200);
  expect((await send(reporter, 'GET info/lfs/locks')).json).toEqual({ locks: [] });
});

test('many lock one path at once, and one of them has it', async () => {
  const locks = Array.from({ length: 6 }, (_, place) =>
    send(place % 2 ? developer : maintainer, 'POST info/lfs/locks', { path: 'a' }),
  );
  const statuses = (await Promise.all(locks)).map(({ status }) => status).sort();
  expect(statuses).toEqual([201, 409, 409, 409, 409, 409]);
});

test('a project has so many locks', async () => {
  const { db } = app.app.services.database;
  expect((await send(developer, 'POST info/lfs/locks', { path: 'first' })).status).toBe(201);
  const newest = db.selectFrom('lfs_locks').selectAll().orderBy('id', 'desc').limit(1);
  const { project_id, user_id } = await newest.executeTakeFirstOrThrow();
  await sql`
    insert into lfs_locks (project_id, path, user_id, created_at)
    select ${project_id}, 'file ' || n, ${user_id}, now() from generate_series(2, 5000) n`.execute(db);
  const refused = await send(developer, 'POST info/lfs/locks', { path: 'one more' });
  expect([refused.status, refused.json.message]).toEqual([
    422,
    'A project has 5000 locks at most. Remove some that are not needed.',
  ]);
  // Who has a lock is told all the same.
  expect((await send(maintainer, 'POST info/lfs/locks', { path: 'first' })).status).toBe(409);
});
