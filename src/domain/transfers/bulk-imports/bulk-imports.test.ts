/** Direct transfers between two instances: a group with what is below it and its projects; refusals, failures and their end. */
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { ROOT_TOKEN, useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  makeGroup,
  makeProject,
  makeUser,
  uniqueName,
} from '../../../../test/support/factories.ts';
import { commitTo } from '../../../../test/support/merge-requests.ts';
import { tarFile } from '../../../../test/support/tar.ts';
import { until } from '../../../../test/support/waiting.ts';
import { startWebServer } from '../../../../test/support/web-server.ts';

const source = useApp();
const target = useApp();

beforeAll(() => set({ bulk_import_enabled: true, allow_local_requests_from_web_hooks_and_services: true }));

const set = async (body: Record<string, unknown>) =>
  bodyOf(await target.root('PUT /application/settings', { body }), 200);

const request = (entities: unknown[], { url = source.url, token = ROOT_TOKEN } = {}) => ({
  configuration: { url, access_token: token },
  entities,
});

const groupEntity = (path: string, more: Record<string, unknown> = {}) => ({
  source_type: 'group_entity',
  source_full_path: path,
  destination_slug: uniqueName('fetched'),
  destination_namespace: '',
  ...more,
});

async function ended(id: number, token = ROOT_TOKEN) {
  const as = target.as(token);
  await until(
    async () => !['created', 'started'].includes(bodyOf(await as(`GET /bulk_imports/${id}`), 200).status),
    'the transfer is not over',
  );
  return bodyOf(await as(`GET /bulk_imports/${id}`), 200);
}

const entitiesOf = async (id: number) => bodyOf(await target.root(`GET /bulk_imports/${id}/entities`), 200);

test('a group comes with the groups below it, and with the projects in all of them', async () => {
  const group = await makeGroup(source, { description: 'Outer' });
  const inner = await makeGroup(source, { parent_id: group.id, description: 'Inner' });
  const project = await makeProject(source, {
    namespace_id: inner.id,
    path: 'stones',
    description: 'Of stone',
  });
  await commitTo(source, project.id, 'main', { 'README.md': '# Stones\n' });
  bodyOf(await source.root(`POST /projects/${project.id}/issues`, { body: { title: 'One' } }), 201);
  bodyOf(
    await source.root(`POST /groups/${group.id}/labels`, { body: { name: 'outer', color: '#ff0000' } }),
    201,
  );
  const entity = groupEntity(group.full_path);
  const made = bodyOf(await target.root('POST /bulk_imports', { body: request([entity]) }), 201);
  expect(made).toMatchObject({
    status: 'created',
    source_type: 'gitlab',
    source_url: source.url,
    has_failures: false,
  });
  expect(await ended(made.id)).toMatchObject({ status: 'finished', has_failures: false });
  const entities = await entitiesOf(made.id);
  expect(entities).toMatchObject([
    {
      entity_type: 'group',
      status: 'finished',
      destination_full_path: entity.destination_slug,
      failures: [],
      parent_id: null,
    },
    {
      entity_type: 'project',
      status: 'finished',
      source_full_path: project.path_with_namespace,
      parent_id: entities[0].id,
    },
  ]);
  const [, { project_id: id }] = entities;
  expect(bodyOf(await target.root(`GET /projects/${id}`), 200)).toMatchObject({
    description: 'Of stone',
    path: 'stones',
  });
  expect(bodyOf(await target.root(`GET /projects/${id}/issues`), 200)).toMatchObject([
    { iid: 1, title: 'One' },
  ]);
  const readme = await target.root(`GET /projects/${id}/repository/files/README.md/raw`, {
    query: 'ref=main',
  });
  expect(readme.text).toBe('# Stones\n');
  const labels = bodyOf(await target.root(`GET /groups/${entities[0].namespace_id}/labels`), 200);
  expect(labels).toMatchObject([{ name: 'outer' }]);
  const [token] = await target.app.services.database.sql<{ token_sealed: string | null }[]>`
    select token_sealed from bulk_imports where id = ${made.id}`;
  expect(token?.token_sealed).toBeNull();
}, 60_000);

test('what the source does not give fails in words, and the rest goes on', async () => {
  const project = await makeProject(source);
  const group = await makeGroup(target);
  const entities = [
    groupEntity('no-such-group'),
    {
      source_type: 'project_entity',
      source_full_path: project.path_with_namespace,
      destination_slug: 'taken',
      destination_namespace: group.full_path,
    },
  ];
  const { id } = bodyOf(await target.root('POST /bulk_imports', { body: request(entities) }), 201);
  expect(await ended(id)).toMatchObject({ status: 'finished', has_failures: true });
  const [failed, done] = await entitiesOf(id);
  expect(failed).toMatchObject({
    status: 'failed',
    has_failures: true,
    failures: [{ relation: 'group', exception_message: expect.stringMatching(/answered 404/) }],
  });
  expect(done).toMatchObject({ status: 'finished', has_failures: false });
  const failures = bodyOf(await target.root(`GET /bulk_imports/${id}/entities/${failed.id}/failures`), 200);
  expect(failures).toHaveLength(1);
}, 60_000);

test('an administrator’s, asked for in admin mode, goes on with these rights', async () => {
  const project = await makeProject(source);
  const group = await makeGroup(target);
  const admin = await makeUser(target, { admin: true });
  const scopes = ['api', 'admin_mode'];
  const path = `POST /users/${admin.id}/personal_access_tokens`;
  const { token } = bodyOf(await target.root(path, { body: { name: 'elevated', scopes } }), 201);
  await set({ admin_mode: true });
  try {
    const entity = (destination_slug: string) => ({
      source_type: 'project_entity',
      source_full_path: project.path_with_namespace,
      destination_slug,
      destination_namespace: group.full_path,
    });
    const refused = await target.as(admin.token)('POST /bulk_imports', {
      body: request([entity('refused')]),
    });
    expect(refused.status).toBeGreaterThanOrEqual(400);
    const { id } = bodyOf(
      await target.as(token)('POST /bulk_imports', { body: request([entity('fetched')]) }),
      201,
    );
    expect(await ended(id, token)).toMatchObject({ status: 'finished', has_failures: false });
    expect((await target.as(token)(`GET /projects/${group.full_path}%2Ffetched`)).status).toBe(200);
  } finally {
    await set({ admin_mode: false });
  }
}, 60_000);

test('it is refused where it is off, of a source that is none, and into what is not one’s own', async () => {
  const user = await makeUser(target);
  const group = await makeGroup(target);
  const post = (body: unknown, token = ROOT_TOKEN) => target.as(token)('POST /bulk_imports', { body });
  expect((await post(request([groupEntity('x')], { token: 'wrong' }))).status).toBe(422);
  expect((await post(request([groupEntity('x')], { url: 'file:///etc/passwd' }))).status).toBe(422);
  expect((await post(request([groupEntity('x')], { url: 'http://a:b@example.org' }))).status).toBe(422);
  expect((await post(request([]))).status).toBe(400);
  const foreign = request([groupEntity('x', { destination_namespace: group.full_path })]);
  expect((await post(foreign, user.token)).status).toBe(404);
  await addMember(target, `groups/${group.id}`, user, 30);
  expect((await post(foreign, user.token)).status).toBe(403);
  await set({ allow_local_requests_from_web_hooks_and_services: false });
  const local = await post(request([groupEntity('x')]), (await makeUser(target)).token);
  await set({ allow_local_requests_from_web_hooks_and_services: true });
  expect([local.status, local.text]).toEqual([422, expect.stringMatching(/not allowed/)]);
  await set({ bulk_import_enabled: false });
  const off = await post(request([groupEntity('x')]));
  await set({ bulk_import_enabled: true });
  expect(off.status).toBe(404);
});

test('it is of the one who began it, who may end it', async () => {
  const [user, other] = [await makeUser(target), await makeUser(target)];
  const group = await makeGroup(source);
  const as = target.as(user.token);
  const { id } = bodyOf(
    await as('POST /bulk_imports', { body: request([groupEntity(group.full_path)]) }),
    201,
  );
  for (const path of [
    `GET /bulk_imports/${id}`,
    `GET /bulk_imports/${id}/entities`,
    `POST /bulk_imports/${id}/cancel`,
  ])
    expect((await target.as(other.token)(path)).status).toBe(404);
  expect(bodyOf(await target.as(other.token)('GET /bulk_imports'), 200)).toEqual([]);
  const canceled = bodyOf(await as(`POST /bulk_imports/${id}/cancel`), 200);
  expect(['canceled', 'finished']).toContain(canceled.status);
  expect(await ended(id, user.token)).toMatchObject({ status: canceled.status });
  const first = async () => bodyOf(await as('GET /bulk_imports/entities'), 200)[0];
  // One that had begun ends when its job looks.
  await expect.poll(async () => (await first()).status).toBe(canceled.status);
  const entity = await first();
  expect(bodyOf(await as(`GET /bulk_imports/${id}/entities/${entity.id}`), 200)).toEqual(entity);
});

test('what a source says of its projects is taken where it can be a path', async () => {
  const archive = gzipSync(
    tarFile(
      { name: 'VERSION', content: '0.2.4' },
      { name: 'tree/groups/_all.ndjson', content: '1\n' },
      { name: 'tree/groups/1.json', content: '{"id":1,"name":"G","path":"g"}' },
    ),
  );
  const projects = [null, 7, {}, { path_with_namespace: 'g/a\u0000b' }, { path_with_namespace: 'g/../x y' }];
  let isAsked = false;
  const server = await startWebServer(({ method, path }, reply) => {
    if (path.endsWith('/user')) reply.end('{}');
    else if (path.includes('/projects?'))
      reply.end(JSON.stringify([...projects, { path_with_namespace: 'g/good' }]));
    else if (path.includes('/projects/')) reply.writeHead(404).end();
    else if (method === 'POST') {
      isAsked = true;
      reply.writeHead(202).end();
    } else if (!isAsked) reply.writeHead(404).end();
    else reply.writeHead(200, { etag: '"one"' }).end(method === 'HEAD' ? undefined : archive);
  });
  try {
    const begun = await target.root('POST /bulk_imports', {
      body: request([groupEntity('g')], { url: server.url }),
    });
    const { id } = bodyOf(begun, 201);
    expect((await ended(id)).status).toBe('finished');
    expect(await entitiesOf(id)).toMatchObject([
      { entity_type: 'group', status: 'finished' },
      { entity_type: 'project', source_full_path: 'g/good', status: 'failed' },
    ]);
  } finally {
    await server.stop();
  }
});
