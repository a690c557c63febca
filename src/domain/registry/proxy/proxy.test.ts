/** The dependency proxy: a group keeps images of another Ashlar, which is a real registry, and serves them without it. */
import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { isStored, removeBlobFile } from '../../../../test/support/blobs.ts';
import {
  bodyOf,
  type MadeUser,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';
import { makeTeam, type Team } from '../../../../test/support/packages.ts';
import {
  askToken,
  type Credentials,
  IMAGE_MANIFEST,
  imageOf,
  openRegistry,
  sha256Of,
} from '../../../../test/support/registry.ts';
import { makeRunner, startPipeline } from '../../../../test/support/runner.ts';
import { until } from '../../../../test/support/waiting.ts';
import { defaultSettings } from '../../../kernel/settings/definitions.ts';
import { moveClock } from '../../../platform/clock.ts';
import { unseal } from '../../../platform/secret.ts';
import { sweepRegistry } from '../sweep.ts';
import { MAX_BLOBS, MAX_MANIFESTS } from './actions.ts';
import { PURGE, runPurge } from './removal.ts';

const app = useApp();
const upstream = useApp();
let team: Team;
/** The prefix of the team's proxied images. */
let proxy: string;

const by = (user: Pick<MadeUser, 'username' | 'token'>): Credentials => ({
  username: user.username,
  password: user.token,
});
const errorsOf = (text: string): string[] =>
  (JSON.parse(text) as { errors: { code: string }[] }).errors.map(({ code }) => code);
const prefixOf = ({ group }: Pick<Team, 'group'>) =>
  `${group.full_path.toLowerCase()}/dependency_proxy/containers`;
const setUp = async (body: Record<string, unknown>) =>
  bodyOf(await app.root('PUT /application/settings', { body }), 200);
/** Who pulls through the proxy, as its programs do. */
const puller = (credentials: Credentials = by(team.guest)) => {
  const { send } = openRegistry(app, credentials);
  return (line: string, headers: Record<string, string> = {}) => {
    const [method, rest = ''] = line.split(' ');
    const image = /^(.+)\/(?:manifests|blobs)\//.exec(rest)?.[1];
    return send(`${method} ${proxy}/${rest}`, { scope: `repository:${proxy}/${image}:pull`, headers });
  };
};
const goneAway = { dependency_proxy_upstream_url: 'http://127.0.0.1:1' };
const pulledUpstream = () => upstream.log.filter((line) => line.includes('"kind":"registry"')).length;

/** A project of the registry behind, whose images everybody pulls unless it is private; its path and a pusher. */
async function openUpstream(visibility: 'public' | 'private' = 'public') {
  const project = await makeProject(upstream, { visibility });
  const { developer } = await makeMembers(upstream, `projects/${project.id}`, 'developer');
  return {
    image: project.path_with_namespace.toLowerCase(),
    developer,
    registry: openRegistry(upstream, by(developer)),
  };
}

beforeEach(async () => {
  team = await makeTeam(app);
  const guest = await makeUser(app);
  bodyOf(
    await app.root(`POST /groups/${team.group.id}/members`, {
      body: { user_id: guest.id, access_level: 10 },
    }),
    201,
  );
  team = { ...team, guest };
  proxy = prefixOf(team);
  await setUp({
    dependency_proxy_enabled: true,
    dependency_proxy_upstream_url: upstream.url,
    outbound_local_requests_allowlist: ['127.0.0.1'],
  });
});

test('it is off unless an administrator turns it on, and a group may turn it off', async () => {
  expect(defaultSettings.dependency_proxy_enabled).toBe(false);
  await setUp({ dependency_proxy_enabled: false });
  const pull = puller();
  const refused = await pull('GET alpine/manifests/latest');
  expect([refused.status, errorsOf(refused.text)]).toEqual([404, ['NAME_UNKNOWN']]);
  const service = await askToken(app, by(team.guest), [], 'dependency_proxy');
  expect([service.status, errorsOf(service.text)]).toEqual([404, ['UNAVAILABLE']]);
  await setUp({ dependency_proxy_enabled: true });
  expect((await askToken(app, by(team.guest), [], 'dependency_proxy')).status).toBe(200);
  const before = pulledUpstream();
  const path = `PUT /groups/${team.group.id}/dependency_proxy/settings`;
  expect(bodyOf(await app.root(path, { body: { enabled: false } }), 200)).toEqual({
    enabled: false,
    identity: null,
    image_ttl_enabled: false,
    image_ttl: 90,
  });
  expect((await pull('GET alpine/manifests/latest')).status).toBe(404);
  expect(pulledUpstream()).toBe(before);
});

test('an image comes from the registry behind, once; then it is there without it, until it is purged', async () => {
  const { image, registry } = await openUpstream();
  const layer = `a layer of ${image}`;
  const digest = await registry.pushImage(image, 'v1', layer);
  const manifest = JSON.stringify(imageOf([layer]));
  const pull = puller();
  const whole = async () => {
    const got = await pull(`GET ${image}/manifests/v1`);
    expect([got.status, got.text]).toEqual([200, manifest]);
    expect(got.headers.get('content-type')).toBe(IMAGE_MANIFEST);
    expect(got.headers.get('docker-content-digest')).toBe(digest);
    const head = await pull(`HEAD ${image}/manifests/v1`);
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(manifest.length)]);
    expect((await pull(`GET ${image}/manifests/${digest}`)).text).toBe(manifest);
    const blob = await pull(`GET ${image}/blobs/${sha256Of(layer)}`);
    expect([blob.status, blob.text, blob.headers.get('content-length')]).toEqual([
      200,
      layer,
      String(layer.length),
    ]);
    expect(blob.headers.get('docker-content-digest')).toBe(sha256Of(layer));
    expect((await pull(`GET ${image}/blobs/${sha256Of('{}')}`)).text).toBe('{}');
  };
  const asked = await pull(`HEAD ${image}/blobs/${sha256Of(layer)}`);
  expect([asked.status, asked.headers.get('content-length')]).toEqual([200, String(layer.length)]);
  expect(isStored(app, layer)).toBe(false);
  await whole();
  expect(isStored(app, layer)).toBe(true);
  await setUp(goneAway);
  await whole();
  const part = await pull(`GET ${image}/blobs/${sha256Of(layer)}`, { range: 'bytes=0-6' });
  expect([part.status, part.text]).toEqual([206, 'a layer']);
  const other = await pull(`GET ${image}/manifests/v2`);
  expect([other.status, errorsOf(other.text)]).toEqual([503, ['UNAVAILABLE']]);

  const purged = await app.root(`DELETE /groups/${team.group.id}/dependency_proxy/cache`);
  expect([purged.status, purged.body]).toEqual([202, { message: '202 Accepted' }]);
  await until(() => !isStored(app, layer), 'the blob is there after the purge');
  expect((await pull(`GET ${image}/manifests/v1`)).status).toBe(503);
  expect((await pull(`GET ${image}/manifests/${digest}`)).status).toBe(503);
  expect((await pull(`GET ${image}/blobs/${sha256Of(layer)}`)).status).toBe(503);
});

test('what is kept without its bytes comes anew, and is there again', async () => {
  const { image, registry } = await openUpstream();
  const layer = `restored ${image}`;
  const digest = await registry.pushImage(image, 'v1', layer);
  const manifest = JSON.stringify(imageOf([layer]));
  const pull = puller();
  const paths = {
    tag: `${image}/manifests/v1`,
    digest: `${image}/manifests/${digest}`,
    blob: `${image}/blobs/${sha256Of(layer)}`,
  };
  for (const path of Object.values(paths)) expect((await pull(`GET ${path}`)).status).toBe(200);
  for (const [path, bytes] of [
    [paths.tag, manifest],
    [paths.digest, manifest],
    [paths.blob, layer],
  ] as const) {
    removeBlobFile(app, bytes);
    await setUp(goneAway);
    expect((await pull(`GET ${path}`)).status).toBe(503);
    await setUp({ dependency_proxy_upstream_url: upstream.url });
    expect((await pull(`HEAD ${path}`)).status).toBe(200);
    const got = await pull(`GET ${path}`);
    expect([got.status, got.text]).toEqual([200, bytes]);
    expect(isStored(app, bytes)).toBe(true);
    await setUp(goneAway);
    expect((await pull(`GET ${path}`)).text).toBe(bytes);
    await setUp({ dependency_proxy_upstream_url: upstream.url });
  }
});

test('a tag is what it is in the registry behind now; what is gone there is not served', async () => {
  const { image, registry } = await openUpstream();
  const pull = puller();
  const first = await registry.pushImage(image, 'latest', `${image} 1`);
  expect((await pull(`GET ${image}/manifests/latest`)).headers.get('docker-content-digest')).toBe(first);
  const second = await registry.pushImage(image, 'latest', `${image} 2`);
  expect((await pull(`GET ${image}/manifests/latest`)).headers.get('docker-content-digest')).toBe(second);
  await setUp(goneAway);
  expect((await pull(`GET ${image}/manifests/latest`)).headers.get('docker-content-digest')).toBe(second);
  expect((await pull(`GET ${image}/manifests/${first}`)).status).toBe(200);
  await setUp({ dependency_proxy_upstream_url: upstream.url });
  bodyOf(
    await upstream.root(`PUT /projects/${encodeURIComponent(image)}`, { body: { visibility: 'private' } }),
    200,
  );
  const gone = await pull(`GET ${image}/manifests/latest`);
  expect([gone.status, errorsOf(gone.text)]).toEqual([404, ['MANIFEST_UNKNOWN']]);
  const never = await pull(`GET ${image}/blobs/${sha256Of('never')}`);
  expect([never.status, errorsOf(never.text)]).toEqual([404, ['BLOB_UNKNOWN']]);
});

test('who comes without a token is told where to get one; members, jobs and deploy tokens get one', async () => {
  const path = `${proxy}/library/alpine`;
  const scope = `repository:${path}:pull`;
  const anonymous = await fetch(`${app.url}/v2/${path}/manifests/latest`);
  expect([anonymous.status, anonymous.headers.get('www-authenticate')]).toEqual([
    401,
    `Bearer realm="${app.url}/jwt/auth",service="dependency_proxy",scope="${scope}"`,
  ]);
  const granted = async (credentials: Credentials, service = 'dependency_proxy') => {
    const { status, access } = await askToken(app, credentials, [`${scope},push,delete`], service);
    return status === 200 ? (access[0]?.actions ?? []) : status;
  };
  for (const service of ['dependency_proxy', 'container_registry'])
    expect(await granted(by(team.guest), service)).toEqual(['pull']);
  expect(await granted({ username: 'root', password: await rootToken() })).toEqual(['pull']);
  // A member of the project alone, and strangers.
  expect(await granted(by(team.reporter))).toEqual([]);
  expect(await granted(by(await makeUser(app)))).toEqual([]);
  expect(await granted(undefined)).toBe(403);
  expect(await granted(undefined, 'container_registry')).toEqual([]);
  bodyOf(await app.root(`PUT /groups/${team.group.id}`, { body: { visibility: 'public' } }), 200);
  expect(await granted(by(await makeUser(app)))).toEqual([]);
  expect(await granted(undefined, 'container_registry')).toEqual([]);

  const personal = async (...scopes: string[]) => {
    const made = await app.root(`POST /users/${team.guest.id}/personal_access_tokens`, {
      body: { name: 'p', scopes },
    });
    return { username: team.guest.username, password: bodyOf(made, 201).token as string };
  };
  expect(await granted(await personal('read_registry'))).toEqual(['pull']);
  expect(await granted(await personal('write_registry'))).toEqual(['pull']);
  expect(await granted(await personal('read_virtual_registry'))).toEqual(['pull']);
  expect(await granted(await personal('read_api', 'read_repository'))).toBe(403);

  const deploy = async (where: string, ...scopes: string[]) => {
    const made = await app.root(`POST /${where}/deploy_tokens`, { body: { name: 'd', scopes } });
    const { username, token } = bodyOf(made, 201) as { username: string; token: string };
    return { username, password: token };
  };
  const here = `groups/${team.group.id}`;
  expect(await granted(await deploy(here, 'read_registry', 'write_registry'))).toEqual(['pull']);
  expect(await granted(await deploy(here, 'read_registry'))).toEqual(['pull']);
  expect(await granted(await deploy(here, 'read_repository'))).toBe(403);
  expect(await granted(await deploy(`projects/${team.project.id}`, 'read_registry'))).toEqual([]);
  const other = await makeTeam(app);
  expect(await granted(await deploy(`groups/${other.group.id}`, 'read_registry'))).toEqual([]);
});

async function rootToken(): Promise<string> {
  const made = await app.root('POST /users/1/personal_access_tokens', {
    body: { name: 'r', scopes: ['api'] },
  });
  return bodyOf(made, 201).token;
}

test('a token is for its image and its service alone, and nothing is pushed', async () => {
  const { image, registry } = await openUpstream();
  await registry.pushImage(image, 'v1', `only ${image}`);
  const { token } = await askToken(
    app,
    by(team.guest),
    [`repository:${proxy}/${image}:pull`],
    'dependency_proxy',
  );
  const code = async (line: string, body?: string) => {
    const [method = '', path = ''] = line.split(' ');
    const response = await fetch(`${app.url}/v2/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body !== undefined && { body }),
    });
    return [response.status, ...errorsOf(await response.text())];
  };
  const response = await fetch(`${app.url}/v2/${proxy}/${image}/manifests/v1`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(response.status).toBe(200);
  expect(await code(`GET ${proxy}/${image}/other/manifests/v1`)).toEqual([401, 'UNAUTHORIZED']);
  const other = prefixOf(await makeTeam(app));
  expect(await code(`GET ${other}/${image}/manifests/v1`)).toEqual([401, 'UNAUTHORIZED']);
  expect(await code(`PUT ${proxy}/${image}/manifests/v1`, '{}')).toEqual([405, 'UNSUPPORTED']);
  expect(await code(`POST ${proxy}/${image}/blobs/uploads/`)).toEqual([405, 'UNSUPPORTED']);
  expect(await code(`DELETE ${proxy}/${image}/manifests/v1`)).toEqual([405, 'UNSUPPORTED']);
  expect(await code(`GET ${proxy}/${image}/tags/list`)).toEqual([405, 'UNSUPPORTED']);
  for (const name of ['..%2f..%2fv2', 'a%2f..%2fb', 'a%00b', '127.0.0.1:80/x', 'a@b', 'A'])
    expect(await code(`GET ${proxy}/${name}/manifests/v1`)).toEqual([400, 'NAME_INVALID']);
  expect(await code(`GET ${proxy}/${image}/manifests/sha256:00`)).toEqual([400, 'DIGEST_INVALID']);
  expect(await code(`GET ${proxy}/${image}/manifests/..%2fx`)).not.toContain(200);
  // The registry of projects is another service.
  const project = team.project.path_with_namespace.toLowerCase();
  const { access } = await askToken(
    app,
    by(team.maintainer),
    [`repository:${project}:pull`],
    'dependency_proxy',
  );
  expect(access).toEqual([]);
});

test('what a group pulls with its credentials is for that group alone', async () => {
  const { image, registry, developer } = await openUpstream('private');
  const layer = `a secret of ${image}`;
  await registry.pushImage(image, 'v1', layer);
  const path = `/groups/${team.group.id}/dependency_proxy/settings`;
  const pull = puller();
  expect((await pull(`GET ${image}/manifests/v1`)).status).toBe(404);
  const set = (body: Record<string, unknown>) => app.root(`PUT ${path}`, { body });
  const credentials = { identity: developer.username, secret: developer.token };
  const saved = await set(credentials);
  expect(bodyOf(saved, 200)).toEqual({
    enabled: true,
    identity: developer.username,
    image_ttl_enabled: false,
    image_ttl: 90,
  });
  expect((await pull(`GET ${image}/manifests/v1`)).status).toBe(200);
  expect((await pull(`GET ${image}/blobs/${sha256Of(layer)}`)).text).toBe(layer);

  const other = await makeTeam(app);
  const mine = openRegistry(app, { username: 'root', password: await rootToken() });
  for (const at of ['manifests/v1', `blobs/${sha256Of(layer)}`]) {
    const name = `${prefixOf(other)}/${image}`;
    expect((await mine.send(`GET ${name}/${at}`, { scope: `repository:${name}:pull` })).status).toBe(404);
  }
  await set({ secret: 'wrong' });
  const refused = await pull(`GET ${image}/manifests/v1`);
  expect([refused.status, errorsOf(refused.text)]).toEqual([403, ['DENIED']]);

  const { db } = app.app.services.database;
  const { secret_sealed } = await db
    .selectFrom('dependency_proxy_settings')
    .select('secret_sealed')
    .where('namespace_id', '=', team.group.id)
    .executeTakeFirstOrThrow();
  expect(unseal(app.app.services.secretKey, secret_sealed ?? '')).toBe('wrong');
  expect((await set({ identity: 'another' })).body).toEqual({ message: { secret: ["can't be blank"] } });
  expect((await set({ secret: '' })).status).toBe(400);
  expect((await set({ identity: 'a:b', secret: 'x' })).status).toBe(400);
  expect((await set({ identity: 'a\0b', secret: 'x' })).status).toBe(400);
  expect((await set({ image_ttl: 0 })).status).toBe(400);
  expect(bodyOf(await set({ identity: '' }), 200).identity).toBeNull();
  expect((await set({ secret: 'alone' })).body).toEqual({ message: { identity: ["can't be blank"] } });
  expect((await pull(`GET ${image}/manifests/v1`)).status).toBe(404);
});

test('owners alone see and change settings, and purge', async () => {
  const { maintainer } = await makeMembers(app, `groups/${team.group.id}`, 'maintainer');
  const path = `/groups/${team.group.id}/dependency_proxy`;
  for (const [user, status] of [
    [maintainer, 403],
    [await makeUser(app), 404],
  ] as const)
    for (const line of [`GET ${path}/settings`, `PUT ${path}/settings`, `DELETE ${path}/cache`])
      expect((await app.as(user.token)(line, line.startsWith('PUT') ? { body: {} } : {})).status).toBe(
        status,
      );
  expect((await app.root(`GET ${path}/settings`)).body.enabled).toBe(true);
});

test('what nobody pulls for so many days goes, where its group says so', async () => {
  const { image, registry } = await openUpstream();
  const layer = `old ${image}`;
  await registry.pushImage(image, 'v1', layer);
  const other = await makeTeam(app);
  const pull = puller();
  expect((await pull(`GET ${image}/manifests/v1`)).status).toBe(200);
  expect((await pull(`GET ${image}/blobs/${sha256Of(layer)}`)).text).toBe(layer);
  const root = openRegistry(app, { username: 'root', password: await rootToken() });
  const name = `${prefixOf(other)}/${image}`;
  const others = await root.send(`GET ${name}/blobs/${sha256Of(layer)}`, {
    scope: `repository:${name}:pull`,
  });
  expect([others.status, others.text]).toEqual([200, layer]);
  await setUp(goneAway);
  const ttl = { image_ttl_enabled: true, image_ttl: 3 };
  bodyOf(await app.root(`PUT /groups/${team.group.id}/dependency_proxy/settings`, { body: ttl }), 200);
  const day = 86_400_000;
  const back = [moveClock(2 * day)];
  try {
    // Its token is over.
    expect((await pull(`GET ${image}/manifests/v1`)).status).toBe(401);
    expect((await puller()(`GET ${image}/manifests/v1`)).status).toBe(200);
    back.push(moveClock(2 * day));
    await sweepRegistry(app.app.services);
    const now = puller();
    // Pulled two days ago, and four.
    expect((await now(`GET ${image}/manifests/v1`)).status).toBe(200);
    expect((await now(`GET ${image}/blobs/${sha256Of(layer)}`)).status).toBe(503);
    // The other group has no such rule.
    expect(isStored(app, layer), app.log.filter((line) => line.includes('error')).join('\n')).toBe(true);
  } finally {
    for (const each of back) each();
  }
});

test('what is more than a group keeps is handed on; a purge of much takes several turns', async () => {
  const { image, registry } = await openUpstream();
  const layer = `one more ${image}`;
  await registry.pushImage(image, 'v1', layer);
  const { services } = app.app;
  const { db } = services.database;
  const { id } = team.group;
  await sql`
    with kept as (insert into blobs (sha256, created_at) values (sha256('kept'), now()) returning sha256),
    manifests as (
      insert into dependency_proxy_manifests (namespace_id, image, digest, media_type, sha256, size, created_at, pulled_at)
      select ${id}, 'a/b', n, 'x', sha256, 4, now(), now() from kept, generate_series(1, ${MAX_MANIFESTS}) n)
    insert into dependency_proxy_blobs (namespace_id, digest, sha256, size, created_at, pulled_at)
    select ${id}, n, sha256, 4, now(), now() from kept, generate_series(1, ${MAX_BLOBS}) n`.execute(db);
  const counts = async () => {
    const { rows } = await sql<{ manifests: number; blobs: number }>`
      select (select count(*) from dependency_proxy_manifests where namespace_id = ${id})::int as manifests,
        (select count(*) from dependency_proxy_blobs where namespace_id = ${id})::int as blobs`.execute(db);
    return rows[0];
  };
  const pull = puller();
  for (const method of ['GET', 'HEAD']) {
    const got = await pull(`${method} ${image}/manifests/v1`);
    expect([got.status, got.headers.get('content-type'), got.headers.get('content-length')]).toEqual([
      200,
      IMAGE_MANIFEST,
      String(JSON.stringify(imageOf([layer])).length),
    ]);
  }
  expect((await pull(`GET ${image}/blobs/${sha256Of(layer)}`)).text).toBe(layer);
  expect(isStored(app, layer)).toBe(false);
  expect(await counts()).toEqual({ manifests: MAX_MANIFESTS, blobs: MAX_BLOBS });

  const before = new Date().toISOString();
  await runPurge(services, { namespace_id: id, before: '2020-01-01T00:00:00.000Z' });
  expect(await counts()).toEqual({ manifests: MAX_MANIFESTS, blobs: MAX_BLOBS });
  // The first turn is over with its first batch; jobs do the rest.
  await runPurge(services, { namespace_id: id, before }, 0);
  await until(
    async () => isDeepStrictEqual(await counts(), { manifests: 0, blobs: 0 }),
    'the purge does not end',
  );
});

test('a purge removes what is being pulled as soon as it may, and asks for it once until then', async () => {
  const { image, registry } = await openUpstream();
  const layer = `pulled ${image}`;
  await registry.pushImage(image, 'v1', layer);
  const pull = puller();
  for (const path of [`${image}/manifests/v1`, `${image}/blobs/${sha256Of(layer)}`])
    expect((await pull(`GET ${path}`)).status).toBe(200);
  const { services } = app.app;
  const { db } = services.database;
  const { id } = team.group;
  const kept = async () => {
    const { rows } = await sql<{ kept: string }>`
      select 'manifest' as kept from dependency_proxy_manifests where namespace_id = ${id}
      union all select 'blob' from dependency_proxy_blobs where namespace_id = ${id}`.execute(db);
    return rows.map((row) => row.kept);
  };
  await db.transaction().execute(async (tx) => {
    await sql`select from dependency_proxy_manifests where namespace_id = ${id} for update`.execute(tx);
    await runPurge(services, { namespace_id: id, before: new Date().toISOString() });
    expect(await kept()).toEqual(['manifest']);
    const { rows } = await sql`
      select run_at > created_at as later from graphile_worker.jobs where key = ${`${PURGE} ${id}`}`.execute(
      db,
    );
    expect(rows).toEqual([{ later: true }]);
  });
  await until(async () => (await kept()).length === 0, 'the purge leaves what was being pulled');
  // Bytes go after the commit.
  await until(async () => !isStored(app, JSON.stringify(imageOf([layer]))), 'its bytes stay');
});

test('a job pulls by the groups around its project, as its variables and credentials say', async () => {
  const { image, registry } = await openUpstream();
  const digest = await registry.pushImage(image, 'v1', `for jobs ${image}`);
  const sub = bodyOf(
    await app.root('POST /groups', {
      body: { name: 'Sub', path: 'Sub', parent_id: team.group.id, visibility: 'private' },
    }),
    201,
  );
  const project = await makeProject(app, { namespace_id: sub.id });
  const { maintainer } = await makeMembers(app, `projects/${project.id}`, 'maintainer');
  const runner = await makeRunner(app, project);
  await startPipeline(
    app,
    project,
    maintainer,
    `build:\n  image: \${CI_DEPENDENCY_PROXY_GROUP_IMAGE_PREFIX}/${image}:v1\n  script: make`,
  );
  const job = await runner.take();
  const variable = (name: string) => job.variables.find(({ key }) => key === name)?.value ?? '';
  const { host } = new URL(app.url);
  expect(variable('CI_DEPENDENCY_PROXY_SERVER')).toBe(host);
  expect(variable('CI_DEPENDENCY_PROXY_GROUP_IMAGE_PREFIX')).toBe(`${host}/${proxy}`);
  const direct = `${team.group.full_path.toLowerCase()}/sub/dependency_proxy/containers`;
  expect(variable('CI_DEPENDENCY_PROXY_DIRECT_GROUP_IMAGE_PREFIX')).toBe(`${host}/${direct}`);
  expect(job.credentials).toEqual([
    { type: 'registry', url: host, username: 'gitlab-ci-token', password: job.token },
  ]);
  const credentials = {
    username: variable('CI_DEPENDENCY_PROXY_USER'),
    password: variable('CI_DEPENDENCY_PROXY_PASSWORD'),
  };
  expect(credentials).toEqual({ username: 'gitlab-ci-token', password: job.token });
  const { send } = openRegistry(app, credentials);
  for (const prefix of [proxy, direct]) {
    const got = await send(`GET ${prefix}/${image}/manifests/v1`, {
      scope: `repository:${prefix}/${image}:pull`,
    });
    expect([got.status, got.headers.get('docker-content-digest')]).toEqual([200, digest]);
  }
  const other = prefixOf(await makeTeam(app));
  expect((await askToken(app, credentials, [`repository:${other}/${image}:pull`])).access).toEqual([]);
  await runner.update(job, { state: 'success' });

  await setUp({ dependency_proxy_enabled: false });
  await startPipeline(app, project, maintainer, 'build:\n  script: make again');
  const without = await runner.take();
  expect(without.variables.filter(({ key }) => key.startsWith('CI_DEPENDENCY_PROXY'))).toEqual([]);
});
