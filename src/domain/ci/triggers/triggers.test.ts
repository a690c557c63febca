/** Trigger tokens over HTTP: whose they are, who manages them, and who reads them whole. */
import { beforeAll, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';

const ashlar = useApp();
let project: MadeProject;
let owner: MadeUser;
let other: MadeUser;
let path: string;

beforeAll(async () => {
  project = await makeProject(ashlar);
  const members = await makeMembers(ashlar, `projects/${project.id}`, 'maintainer', 'owner');
  owner = members.maintainer;
  other = members.owner;
  path = `/projects/${project.id}/triggers`;
});

const make = async (by: MadeUser, body: object = {}) =>
  bodyOf(await ashlar.as(by.token)(`POST ${path}`, { body: { description: 'Quarry', ...body } }), 201);

test('a token is made, read whole by its owner alone, described anew and deleted by any Maintainer', async () => {
  const made = await make(owner, { expires_at: '2031-01-01T00:00:00Z' });
  expect(made).toMatchObject({
    token: expect.stringMatching(/^glptt-[0-9a-f]{40}$/),
    description: 'Quarry',
    last_used: null,
    expires_at: '2031-01-01T00:00:00.000Z',
    owner: { id: owner.id, username: owner.username },
  });
  const one = `${path}/${made.id}`;
  const [asOwner, asOther] = [ashlar.as(owner.token), ashlar.as(other.token)];
  expect(bodyOf(await asOwner(`GET ${one}`), 200)).toEqual(made);
  const short = { ...made, token: made.token.slice(6, 10) };
  expect(bodyOf(await asOther(`GET ${one}`), 200)).toEqual(short);
  expect(bodyOf(await asOther(`GET ${path}`), 200)).toContainEqual(short);
  expect(bodyOf(await ashlar.root(`GET ${one}`), 200)).toEqual(short);
  const body = { description: 'Wall' };
  expect((await asOther(`PUT ${one}`, { body })).status).toBe(403);
  const changed = bodyOf(await asOwner(`PUT ${one}`, { body }), 200);
  expect(changed).toEqual({ ...made, ...body, updated_at: changed.updated_at });
  expect(bodyOf(await asOwner(`PUT ${one}`, { body: {} }), 200)).toEqual(changed);
  expect((await asOther(`DELETE ${one}`)).status).toBe(204);
  for (const method of ['GET', 'PUT', 'DELETE'])
    expect((await asOwner(`${method} ${one}`)).body).toEqual({ message: '404 Trigger Not Found' });
  const { sql } = ashlar.app.services.database;
  const audits = await sql<
    { event_name: string; details: object }[]
  >`select event_name, details from audit_events
    where details ->> 'target_type' = 'Ci::Trigger' and details ->> 'target_id' = ${String(made.id)} order by id`;
  expect(audits.map(({ event_name }) => event_name)).toEqual([
    'pipeline_trigger_created',
    'pipeline_trigger_updated',
    'pipeline_trigger_deleted',
  ]);
  expect(JSON.stringify(audits)).not.toContain(made.token);
});

test('a token is sealed in the database, and is none of the API', async () => {
  const { id, token } = await make(owner);
  const { sql } = ashlar.app.services.database;
  const [row] = await sql`select t::text as text from trigger_tokens t where id = ${id}`;
  expect(row?.text).not.toContain(token.slice(6));
  expect((await ashlar.as(token)(`GET ${path}`)).status).toBe(401);
});

test('a token without a description, or with one too long, is refused', async () => {
  const create = (body: object) => ashlar.as(owner.token)(`POST ${path}`, { body });
  expect((await create({})).status).toBe(400);
  expect((await create({ description: 'x'.repeat(2_049) })).body.message).toEqual({
    description: ['is too long (maximum is 2048 characters)'],
  });
  expect((await create({ description: 'x', expires_at: 'soon' })).status).toBe(400);
});

test('Developers and strangers have none, nor has an archived project', async () => {
  const { developer } = await makeMembers(ashlar, `projects/${project.id}`, 'developer');
  const { id } = await make(owner);
  const stranger = await makeUser(ashlar);
  for (const [user, refused] of [
    [developer, 403],
    [stranger, 404],
  ] as const)
    for (const request of [`GET ${path}`, `POST ${path}`, `GET ${path}/${id}`, `DELETE ${path}/${id}`])
      expect([request, (await ashlar.as(user.token)(request)).status]).toEqual([request, refused]);
  const elsewhere = await makeProject(ashlar);
  expect((await ashlar.root(`GET /projects/${elsewhere.id}/triggers/${id}`)).status).toBe(404);
  bodyOf(await ashlar.root(`POST /projects/${elsewhere.id}/archive`), 201);
  expect((await ashlar.root(`GET /projects/${elsewhere.id}/triggers`)).status).toBe(403);
});

test('of many that are asked for at once, as many are made as there is room for', async () => {
  const full = await makeProject(ashlar);
  const { sql } = ashlar.app.services.database;
  await sql`insert into trigger_tokens (project_id, owner_id, token_sealed, digest, description, created_at, updated_at)
    select ${full.id}, ${owner.id}, '', sha256(('filler ' || n)::bytea), '', now(), now() from generate_series(1, 24999) n`;
  const all = await Promise.all(
    Array.from({ length: 4 }, () =>
      ashlar.root(`POST /projects/${full.id}/triggers`, { body: { description: 'One' } }),
    ),
  );
  expect(all.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400]);
  expect(all.find(({ status }) => status === 400)?.body.message).toEqual({
    base: ['Maximum number of pipeline triggers (25000) exceeded'],
  });
});
