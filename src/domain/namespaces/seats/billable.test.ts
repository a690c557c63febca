/** Who takes a seat in a top-level group, by what, and how it is given up. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  makeGroup,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';

const app = useApp({ env: { ASHLAR_TIER: 'premium' } });

async function makeWorld() {
  const group = await makeGroup(app);
  const inner = await makeGroup(app, { parent_id: group.id });
  const project = await makeProject(app, { namespace_id: inner.id });
  const invited = await makeGroup(app);
  const { owner, maintainer } = await makeMembers(app, `groups/${group.id}`, 'owner', 'maintainer');
  const root = bodyOf(await app.root('GET /user'), 200);
  // Their maker stays in the group with which the project is shared.
  for (const each of [group, inner]) await app.root(`DELETE /groups/${each.id}/members/${root.id}`);
  const [both, ofProject, ofShare, guest, minimal, blocked, outside] = await Promise.all(
    Array.from({ length: 7 }, () => makeUser(app)),
  );
  if (!both || !ofProject || !ofShare || !guest || !minimal || !blocked || !outside) throw new Error('made');
  await addMember(app, `groups/${inner.id}`, both, 20);
  await addMember(app, `projects/${project.id}`, both, 30);
  await addMember(app, `projects/${project.id}`, ofProject, 30);
  await addMember(app, `groups/${invited.id}`, ofShare, 30);
  await addMember(app, `groups/${group.id}`, guest, 10);
  await addMember(app, `groups/${group.id}`, minimal, 5);
  await addMember(app, `groups/${group.id}`, blocked, 30);
  await app.root(`POST /users/${blocked.id}/block`);
  bodyOf(
    await app.root(`POST /projects/${project.id}/share`, {
      body: { group_id: invited.id, group_access: 20 },
    }),
    201,
  );
  bodyOf(
    await app.as(owner.token)(`POST /groups/${group.id}/access_tokens`, {
      body: { name: 'Bot', scopes: ['api'], access_level: 30 },
    }),
    201,
  );
  const list = async (query = '') =>
    bodyOf(await app.as(owner.token)(`GET /groups/${group.id}/billable_members`, { query }), 200);
  return {
    group,
    inner,
    project,
    invited,
    owner,
    maintainer,
    both,
    ofProject,
    ofShare,
    guest,
    minimal,
    outside,
    list,
    root,
  };
}

const ids = (records: { id: number }[]) => records.map(({ id }) => id).sort((one, other) => one - other);

test('seats are of people, once each, by what they are members of', async () => {
  const { group, owner, maintainer, both, ofProject, ofShare, guest, list, root } = await makeWorld();
  const listed = await list();
  expect(ids(listed)).toEqual(ids([root, owner, maintainer, both, ofProject, ofShare, guest]));
  const of = (user: { id: number }) => listed.find(({ id }: { id: number }) => id === user.id);
  expect(of(owner)).toMatchObject({
    membership_type: 'group_member',
    membership_state: 'active',
    access_level: 50,
    is_last_owner: true,
    removable: false,
    last_login_at: null,
  });
  expect(of(owner)).not.toHaveProperty('email');
  expect(of(both)).toMatchObject({ membership_type: 'group_member', access_level: 30, removable: true });
  expect(of(ofProject)).toMatchObject({ membership_type: 'project_member' });
  expect(of(ofShare)).toMatchObject({
    membership_type: 'project_invite',
    access_level: 20,
    removable: false,
  });
  const names = listed.map(({ name }: { name: string }) => name.toLowerCase());
  expect(names).toEqual([...names].sort());
  const levels = (await list('sort=access_level_desc')).map(
    ({ access_level }: { access_level: number }) => access_level,
  );
  expect(levels).toEqual([...levels].sort((one, other) => other - one));
  for (const sort of [
    'last_joined',
    'oldest_sign_in',
    'recent_sign_in',
    'last_activity_on_desc',
    'name_desc',
  ])
    expect(ids(await list(`sort=${sort}`))).toEqual(ids(listed));
  expect(ids(await list(`search=${both.username}`))).toEqual([both.id]);
  const paged = await app.as(owner.token)(`GET /groups/${group.id}/billable_members`, {
    query: 'per_page=2',
  });
  expect(paged.headers.get('x-total')).toBe('7');
  const { config } = app.app.services;
  Object.assign(config, { tier: 'ultimate' });
  try {
    expect(ids(await list())).toEqual(ids([root, owner, maintainer, both, ofProject, ofShare]));
  } finally {
    Object.assign(config, { tier: 'premium' });
  }
});

test('owners see of what somebody is a member, and end it all', async () => {
  const { group, inner, project, invited, owner, maintainer, both, ofShare, outside, list } =
    await makeWorld();
  const as = app.as(owner.token);
  const path = `/groups/${group.id}/billable_members` as const;
  const direct = bodyOf(await as(`GET ${path}/${both.id}/memberships`), 200);
  expect(direct).toMatchObject([
    { source_id: inner.id, access_level: { string_value: 'Reporter', integer_value: 20 }, expires_at: null },
    { source_id: project.id, access_level: { string_value: 'Developer', integer_value: 30 } },
  ]);
  expect(direct[1].source_members_url).toBe(`${app.url}/${project.path_with_namespace}/-/project_members`);
  expect(bodyOf(await as(`GET ${path}/${both.id}/indirect`), 200)).toEqual([]);
  expect(bodyOf(await as(`GET ${path}/${ofShare.id}/indirect`), 200)).toMatchObject([
    { source_id: invited.id, access_level: { integer_value: 20 } },
  ]);
  expect((await as(`GET ${path}/${outside.id}/memberships`)).status).toBe(404);
  for (const request of [
    `GET ${path}`,
    `GET ${path}/${both.id}/memberships`,
    `DELETE ${path}/${both.id}`,
  ] as const) {
    expect((await app.as(maintainer.token)(request)).status).toBe(403);
    expect((await app.as(outside.token)(request)).status).toBe(404);
  }
  expect((await as(`GET /groups/${inner.id}/billable_members`)).status).toBe(400);
  expect((await as(`DELETE ${path}/${both.id}`)).status).toBe(204);
  expect((await as(`DELETE ${path}/${both.id}`)).status).toBe(404);
  expect((await app.as(both.token)(`GET /projects/${project.id}`)).status).toBe(404);
  expect((await as(`DELETE ${path}/${ofShare.id}`)).status).toBe(404);
  expect((await as(`DELETE ${path}/${owner.id}`)).status).toBe(403);
  expect(ids(await list())).not.toContain(both.id);
});

test('a list over ten thousand members is a page of them', async () => {
  const group = await makeGroup(app);
  const { owner } = await makeMembers(app, `groups/${group.id}`, 'owner');
  const { sql } = app.app.services.database;
  await sql`
    with made as (
      insert into users (username, name, email, projects_limit, can_create_group, created_at, updated_at)
      select ${`many-${group.id}-`} || x, 'Many ' || x, ${`many-${group.id}-`} || x || '@example.com', 0, false, now(), now()
      from generate_series(1, 10000) x returning id)
    insert into members (user_id, namespace_id, access_level, created_at, updated_at)
    select id, ${group.id}, 20, now(), now() from made`;
  const { status, headers, body } = await app.as(owner.token)(`GET /groups/${group.id}/billable_members`, {
    query: 'per_page=100&sort=last_joined',
  });
  expect(status).toBe(200);
  expect(body).toHaveLength(100);
  expect([null, '10002']).toContain(headers.get('x-total'));
});
