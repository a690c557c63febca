/** Custom roles over HTTP: made and removed, given to members, and what each ability opens. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  makeGroup,
  makeMembers,
  makeProject,
  makeUser,
  uniqueName,
} from '../../../../test/support/factories.ts';
import { addressOf, makeHome, runGit } from '../../../../test/support/git.ts';
import { commitTo } from '../../../../test/support/merge-requests.ts';
import { mayInProject } from '../../../kernel/access/ability-queries.ts';
import { acceptInvitations } from '../../../kernel/access/invitation-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { type CustomAbility, customAbilityNames } from '../../../kernel/policy/custom-abilities.ts';
import { inTransaction } from '../../../platform/db/database.ts';

const app = useApp({ env: { ASHLAR_TIER: 'ultimate' } });
const home = makeHome();
afterAll(() => rmSync(home, { recursive: true, force: true }));

const makeRole = async (abilities: readonly string[], body: Record<string, unknown> = {}) =>
  bodyOf(
    await app.root('POST /member_roles', {
      body: {
        name: uniqueName('Role'),
        base_access_level: 10,
        ...Object.fromEntries(abilities.map((name) => [name, true])),
        ...body,
      },
    }),
    201,
  );

test('administrators make, list and remove the roles of the instance', async () => {
  const made = await makeRole(['read_code', 'admin_web_hook'], { description: 'Readers' });
  expect(made).toMatchObject({
    id: expect.any(Number),
    group_id: null,
    description: 'Readers',
    base_access_level: 10,
    read_code: true,
    admin_web_hook: true,
    admin_vulnerability: false,
    remove_project: false,
  });
  const { name } = made;
  const listed = bodyOf(await app.root('GET /member_roles', { query: 'per_page=100' }), 200);
  expect(listed).toContainEqual(made);
  for (const [body, message] of [
    [
      { name: name.toUpperCase(), base_access_level: 20, read_code: true },
      { name: ['has already been taken'] },
    ],
    [{ name: 'x', base_access_level: 20, admin_runners: true }, { admin_runners: ['is not supported'] }],
    [{ name: 'x', base_access_level: 20 }, { base: ['At least one ability has to be enabled for the role'] }],
  ])
    expect(await app.root('POST /member_roles', { body: body as object })).toMatchObject({
      status: 400,
      body: { message },
    });
  expect(
    (await app.root('POST /member_roles', { body: { name: 'x', base_access_level: 25, read_code: true } }))
      .status,
  ).toBe(400);
  const person = await makeUser(app);
  const as = app.as(person.token);
  expect((await as('GET /member_roles')).status).toBe(403);
  expect((await as('POST /member_roles', { body: made })).status).toBe(403);
  expect((await as(`DELETE /member_roles/${made.id}`)).status).toBe(403);
  expect((await app.root(`DELETE /member_roles/${made.id}`)).status).toBe(204);
  expect((await app.root(`DELETE /member_roles/${made.id}`)).status).toBe(404);
});

test('a role is given to members by owners, for its base level alone, and stays while it has members', async () => {
  const group = await makeGroup(app);
  const project = await makeProject(app, { namespace_id: group.id });
  const { owner, maintainer } = await makeMembers(app, `groups/${group.id}`, 'owner', 'maintainer');
  const [guest, other] = [await makeUser(app), await makeUser(app)];
  const role = await makeRole(['read_code']);
  const as = app.as(owner.token);
  const members = `/groups/${group.id}/members` as const;
  const give = { access_level: 10, member_role_id: role.id };
  expect(
    await as(`POST ${members}`, { body: { user_id: guest.id, ...give, access_level: 20 } }),
  ).toMatchObject({
    status: 400,
    body: { message: { member_role_id: ["the role's base access level does not match the access level"] } },
  });
  expect(
    (await as(`POST ${members}`, { body: { user_id: guest.id, ...give, member_role_id: 9e9 } })).status,
  ).toBe(400);
  const member = bodyOf(await as(`POST ${members}`, { body: { user_id: guest.id, ...give } }), 201);
  expect(member).toMatchObject({ access_level: 10, member_role: role });
  const inProject = `/projects/${project.id}/members` as const;
  expect(bodyOf(await as(`GET ${inProject}/all/${guest.id}`), 200).member_role).toEqual(role);
  // A maintainer would give what they do not have.
  const body = { user_id: other.id, ...give };
  expect((await app.as(maintainer.token)(`POST ${inProject}`, { body })).status).toBe(403);
  bodyOf(
    await app.as(maintainer.token)(`POST ${inProject}`, { body: { ...body, member_role_id: null } }),
    201,
  );
  expect((await app.as(maintainer.token)(`PUT ${inProject}/${other.id}`, { body: give })).status).toBe(403);
  bodyOf(await as(`PUT ${inProject}/${other.id}`, { body: give }), 200);
  // It stays with the level, and goes with it.
  const later = { access_level: 10, expires_at: '2099-01-01' };
  expect(bodyOf(await as(`PUT ${inProject}/${other.id}`, { body: later }), 200).member_role).toEqual(role);
  expect(bodyOf(await as(`PUT ${inProject}/${other.id}`, { body: { access_level: 20 } }), 200)).toMatchObject(
    {
      access_level: 20,
      member_role: null,
    },
  );
  expect(await app.root(`DELETE /member_roles/${role.id}`)).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('Role is assigned to one or more group members.') },
  });
  const taken = { access_level: 10, member_role_id: null };
  expect(bodyOf(await as(`PUT ${members}/${guest.id}`, { body: taken }), 200).member_role).toBeNull();
  expect((await app.root(`DELETE /member_roles/${role.id}`)).status).toBe(204);
});

test('an invitation brings its role, and a role that is invited stays', async () => {
  const group = await makeGroup(app);
  const { owner } = await makeMembers(app, `groups/${group.id}`, 'owner');
  const role = await makeRole(['read_code']);
  const guest = await makeUser(app);
  const email = `${uniqueName('invited')}@example.net`;
  const body = { email, access_level: 10, member_role_id: role.id };
  const as = app.as(owner.token);
  expect(bodyOf(await as(`POST /groups/${group.id}/invitations`, { body }), 201)).toEqual({
    status: 'success',
  });
  expect((await app.root(`DELETE /member_roles/${role.id}`)).status).toBe(400);
  await inTransaction(app.app.services.database.db, (tx) => acceptInvitations(tx, guest.id, email));
  expect(bodyOf(await as(`GET /groups/${group.id}/members/${guest.id}`), 200)).toMatchObject({
    access_level: 10,
    member_role: role,
  });
});

test('a lower tier gives none', async () => {
  const group = await makeGroup(app);
  const role = await makeRole(['read_code']);
  const guest = await makeUser(app);
  const { config } = app.app.services;
  Object.assign(config, { tier: 'premium' });
  try {
    expect((await app.root('GET /member_roles')).status).toBe(403);
    const body = { user_id: guest.id, access_level: 10, member_role_id: role.id };
    expect((await app.root(`POST /groups/${group.id}/members`, { body })).status).toBe(403);
    const { member_role_id: _, ...plain } = body;
    expect(
      bodyOf(await app.root(`POST /groups/${group.id}/members`, { body: plain }), 201),
    ).not.toHaveProperty('member_role');
  } finally {
    Object.assign(config, { tier: 'ultimate' });
  }
});

type Places = { project: number; group: number; stranger: number };

/** Requests that each ability opens, and no other one does. */
const opened: Record<
  CustomAbility,
  (places: Places) => readonly (readonly [request: string, body?: object])[]
> = {
  admin_cicd_variables: ({ project, group }) => [
    [`POST /projects/${project}/variables`, { key: 'KEY', value: 'value' }],
    [`POST /groups/${group}/variables`, { key: 'KEY', value: 'value' }],
  ],
  admin_group_member: ({ group, stranger }) => [
    [`POST /groups/${group}/members`, { user_id: stranger, access_level: 10 }],
    [`GET /groups/${group}/invitations`],
  ],
  admin_integrations: ({ project, group }) => [
    [`GET /projects/${project}/integrations`],
    [`GET /groups/${group}/integrations`],
  ],
  admin_protected_environments: ({ project, group }) => [
    [`GET /projects/${project}/protected_environments`],
    [`GET /groups/${group}/protected_environments`],
  ],
  admin_push_rules: ({ project, group }) => [
    [`POST /projects/${project}/push_rule`, { max_file_size: 1 }],
    [`POST /groups/${group}/push_rule`, { max_file_size: 1 }],
  ],
  admin_terraform_state: ({ project }) => [
    [`POST /projects/${project}/terraform/state/x`, { version: 4, serial: 1, lineage: 'x' }],
    [`GET /projects/${project}/terraform/state/x`],
  ],
  admin_web_hook: ({ project, group }) => [
    [`POST /projects/${project}/hooks`, { url: 'https://example.com/' }],
    [`GET /groups/${group}/hooks`],
  ],
  archive_project: ({ project }) => [
    [`POST /projects/${project}/archive`],
    [`POST /projects/${project}/unarchive`],
  ],
  manage_deploy_tokens: ({ project, group }) => [
    [`POST /projects/${project}/deploy_tokens`, { name: 'x', scopes: ['read_repository'] }],
    [`GET /groups/${group}/deploy_tokens`],
  ],
  manage_group_access_tokens: ({ group }) => [
    [`POST /groups/${group}/access_tokens`, { name: 'x', scopes: ['api'], access_level: 10 }],
  ],
  manage_project_access_tokens: ({ project }) => [
    [`POST /projects/${project}/access_tokens`, { name: 'x', scopes: ['api'], access_level: 10 }],
  ],
  read_code: ({ project }) => [
    [`GET /projects/${project}/repository/tree`],
    [`GET /projects/${project}/repository/files/a.txt/raw`],
  ],
  remove_project: ({ project }) => [[`DELETE /projects/${project}`]],
};

describe.each(customAbilityNames)('%s', (name) => {
  test('opens its requests to a guest of the group, and nothing else', async () => {
    const group = await makeGroup(app);
    const project = await makeProject(app, { namespace_id: group.id });
    await commitTo(app, project.id, 'main', { 'a.txt': 'a' });
    const [guest, stranger] = [await makeUser(app), await makeUser(app)];
    const role = await makeRole([name]);
    await addMember(app, `groups/${group.id}`, guest, 10);
    const places = { project: project.id, group: group.id, stranger: stranger.id };
    const as = app.as(guest.token);
    const send = async (ability: CustomAbility) => {
      const statuses: number[] = [];
      for (const [request, body] of opened[ability](places))
        statuses.push((await as(request as `GET /${string}`, body && { body })).status);
      return statuses;
    };
    const refused = (ability: CustomAbility) => opened[ability](places).map(() => 403);
    expect(await send(name)).toEqual(refused(name));
    const body = { access_level: 10, member_role_id: role.id };
    bodyOf(await app.root(`PUT /groups/${group.id}/members/${guest.id}`, { body }), 200);
    for (const other of customAbilityNames)
      if (other !== name) expect([other, await send(other)]).toEqual([other, refused(other)]);
    for (const status of await send(name)) expect([200, 201, 202, 204]).toContain(status);
  });
});

test('abilities end with the membership, are of its project alone, and bring no role', async () => {
  const group = await makeGroup(app);
  const [one, two] = [
    await makeProject(app, { namespace_id: group.id }),
    await makeProject(app, { namespace_id: group.id }),
  ];
  const guest = await makeUser(app);
  for (const { id } of [one, two]) {
    await commitTo(app, id, 'main', { 'a.txt': 'a' });
    await addMember(app, `projects/${id}`, guest, 10);
  }
  const role = await makeRole(['read_code', 'manage_project_access_tokens', 'admin_group_member']);
  const member = `/projects/${one.id}/members/${guest.id}` as const;
  const give = (body: Record<string, unknown> = {}) =>
    app.root(`PUT ${member}`, { body: { access_level: 10, member_role_id: role.id, ...body } });
  bodyOf(await give(), 200);
  const as = app.as(guest.token);
  const tree = (id: number) => as(`GET /projects/${id}/repository/tree`).then(({ status }) => status);
  expect([await tree(one.id), await tree(two.id)]).toEqual([200, 403]);
  // By git, too; and no push.
  const address = addressOf(app.url, one.path_with_namespace, guest.token);
  expect((await runGit(home, ['clone', '-q', address, 'one'])).code).toBe(0);
  expect((await runGit(join(home, 'one'), ['push', 'origin', 'HEAD:refs/heads/x'])).code).not.toBe(0);
  expect(
    (await runGit(home, ['clone', '-q', addressOf(app.url, two.path_with_namespace, guest.token)])).code,
  ).not.toBe(0);
  // A token has at most the role of who makes it.
  const body = { name: 'x', scopes: ['api'], access_level: 20 };
  expect((await as(`POST /projects/${one.id}/access_tokens`, { body })).status).toBe(400);
  expect((await as(`GET /groups/${group.id}/invitations`)).status).not.toBe(200);
  // Lists go by it as the project does: the author of a comment on a commit hears of the answer.
  const { db } = app.app.services.database;
  const caller = {
    id: guest.id,
    admin: false,
    auditor: false,
    external: false,
    credential: { via: 'password' },
  } as Actor;
  const reads = async (id: number) =>
    (
      await sql<{
        may: boolean;
      }>`select ${mayInProject('read_code', caller, sql`${id}::bigint`)} as may`.execute(db)
    ).rows[0]?.may;
  expect([await reads(one.id), await reads(two.id)]).toEqual([true, false]);
  const job = { ...caller, credential: { via: 'job', tokenId: 1, projectId: two.id } } as Actor;
  const ofJob = await sql<{
    may: boolean;
  }>`select ${mayInProject('read_code', job, sql`${one.id}::bigint`)} as may`.execute(db);
  expect(ofJob.rows).toEqual([{ may: false }]);
  await db
    .updateTable('members')
    .set({ expires_at: '2020-01-01' })
    .where('project_id', '=', one.id)
    .where('user_id', '=', guest.id)
    .execute();
  expect(await tree(one.id)).toBe(404);
  expect(await reads(one.id)).toBe(false);
});

test('who manages members by a role gives neither roles nor more than their own level', async () => {
  const group = await makeGroup(app);
  const [guest, stranger, reporter] = [await makeUser(app), await makeUser(app), await makeUser(app)];
  const role = await makeRole(['admin_group_member']);
  await addMember(app, `groups/${group.id}`, reporter, 20);
  bodyOf(
    await app.root(`POST /groups/${group.id}/members`, {
      body: { user_id: guest.id, access_level: 10, member_role_id: role.id },
    }),
    201,
  );
  const as = app.as(guest.token);
  const members = `/groups/${group.id}/members` as const;
  const add = (body: Record<string, unknown>) =>
    as(`POST ${members}`, { body: { user_id: stranger.id, ...body } });
  expect((await add({ access_level: 20 })).status).toBe(403);
  expect((await add({ access_level: 10, member_role_id: role.id })).status).toBe(403);
  expect((await as(`DELETE ${members}/${reporter.id}`)).status).toBe(403);
  expect((await as(`PUT ${members}/${reporter.id}`, { body: { access_level: 10 } })).status).toBe(403);
  expect((await as(`PUT ${members}/${guest.id}`, { body: { access_level: 20 } })).status).toBe(403);
  bodyOf(await add({ access_level: 10 }), 201);
});

test("who is no owner lets no custom role last longer, neither another one's nor the own", async () => {
  const group = await makeGroup(app);
  const { owner } = await makeMembers(app, `groups/${group.id}`, 'owner');
  const guest = await makeUser(app);
  const role = await makeRole(['admin_group_member']);
  const members = `/groups/${group.id}/members` as const;
  const given = { access_level: 10, member_role_id: role.id, expires_at: '2099-06-01' };
  const email = `${uniqueName('invited')}@example.net`;
  bodyOf(await app.root(`POST ${members}`, { body: { user_id: guest.id, ...given } }), 201);
  bodyOf(await app.root(`POST /groups/${group.id}/invitations`, { body: { email, ...given } }), 201);
  const own = (token: string, expires_at: string) =>
    app.as(token)(`PUT ${members}/${guest.id}`, { body: { access_level: 10, expires_at } });
  const invited = (token: string, expires_at: string) =>
    app.as(token)(`PUT /groups/${group.id}/invitations/${email}`, { body: { expires_at } });
  for (const change of [own, invited]) {
    for (const later of ['', '2099-06-02']) expect((await change(guest.token, later)).status).toBe(403);
    bodyOf(await change(guest.token, '2099-05-01'), 200);
    bodyOf(await change(owner.token, '2099-07-01'), 200);
  }
  expect(bodyOf(await app.root(`GET ${members}/${guest.id}`), 200)).toMatchObject({ member_role: role });
});

test('addresses of enterprise users are for owners, and not for who manages members by a role', async () => {
  const group = await makeGroup(app);
  const { owner } = await makeMembers(app, `groups/${group.id}`, 'owner');
  const [guest, enterprise] = [await makeUser(app), await makeUser(app)];
  const { id: member_role_id } = await makeRole(['admin_group_member']);
  const members = `/groups/${group.id}/members` as const;
  const given = { access_level: 10, member_role_id };
  bodyOf(await app.root(`POST ${members}`, { body: { user_id: guest.id, ...given } }), 201);
  await addMember(app, `groups/${group.id}`, enterprise, 10);
  const { db } = app.app.services.database;
  const belongs = { enterprise_group_id: group.id };
  await db.updateTable('users').set(belongs).where('id', '=', enterprise.id).execute();
  const shown = async ({ token }: { token: string }) =>
    bodyOf(await app.as(token)(`GET ${members}/${enterprise.id}`), 200);
  expect(await shown(owner)).toHaveProperty('email');
  expect(await shown(guest)).not.toHaveProperty('email');
});
