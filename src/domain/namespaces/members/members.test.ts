/** Members of projects and groups over HTTP, the same stories for both (facts: Members API, Activity events). */
import { beforeAll, describe, expect, it } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  type Made,
  type MadeUser,
  makeGroup,
  makeMember,
  makeProject,
  makeUser,
} from '../../../../test/support/rows.ts';
import { expireMembers } from './expiry-actions.ts';

const ashlar = useApp();
const database = () => ashlar.app.services.database.db;
const on = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const namesOf = (body: { username: string }[]): string[] => body.map((each) => each.username);

/** The activity of a project, oldest first. */
const activityOf = async (project: Made): Promise<[string, number][]> => {
  const rows = await database()
    .selectFrom('activity_events')
    .select(['action', 'author_id'])
    .where('project_id', '=', project.id)
    .orderBy('id')
    .execute();
  return rows.map((row) => [row.action, row.author_id]);
};

const auditOf = async (type: 'Group' | 'Project', id: number): Promise<string[]> => {
  const rows = await database()
    .selectFrom('audit_events')
    .select('event_name')
    .where('entity_type', '=', type)
    .where('entity_id', '=', id)
    .orderBy('id')
    .execute();
  return rows.map((row) => row.event_name);
};

describe.each(['project', 'group'] as const)('members of a %s', (noun) => {
  let owner: MadeUser;
  let group: Made;
  let place: Made;
  let members: string;

  beforeAll(async () => {
    owner = await makeUser(ashlar);
    group = await makeGroup(ashlar, { owner });
    place = noun === 'group' ? group : await makeProject(ashlar, { of: group });
    members = `/${noun}s/${place.id}/members`;
  });

  it('is added by number or by name, shown, changed and removed', async () => {
    const [ann, bob] = [await makeUser(ashlar), await makeUser(ashlar)];
    const as = ashlar.as(owner.token);
    const added = await as(`POST ${members}`, {
      body: { user_id: ann.id, access_level: 30, expires_at: on(10) },
    });
    expect(added.status).toBe(201);
    expect(added.body).toMatchObject({
      id: ann.id,
      username: ann.username,
      access_level: 30,
      expires_at: on(10),
      membership_state: 'active',
      created_by: { id: owner.id },
    });
    for (const absent of ['group_saml_identity', 'group_scim_identity'])
      expect(added.body).not.toHaveProperty(absent);
    expect(added.body.member_role).toBeNull();
    expect(added.body.email).toBeUndefined();
    expect((await ashlar.root(`GET ${members}/${ann.id}`)).body.email).toBe(ann.email);
    const named = await as(`POST ${members}`, { form: `username=${bob.username}&access_level=10` });
    expect(named.body).toMatchObject({ id: bob.id, access_level: 10, expires_at: null });

    const changed = await as(`PUT ${members}/${ann.id}`, { body: { access_level: 20 } });
    expect(changed.body).toMatchObject({ access_level: 20, expires_at: on(10) });
    const forever = await as(`PUT ${members}/${ann.id}`, { body: { access_level: 20, expires_at: '' } });
    expect(forever.body).toMatchObject({ access_level: 20, expires_at: null });

    const stale = { 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' };
    expect((await as(`DELETE ${members}/${ann.id}`, { headers: stale })).status).toBe(412);
    const removed = await as(`DELETE ${members}/${ann.id}`);
    expect([removed.status, removed.text]).toEqual([204, '']);
    expect((await as(`GET ${members}/${ann.id}`)).status).toBe(404);
    expect((await as(`DELETE ${members}/${ann.id}`)).status).toBe(404);
    expect((await as(`PUT ${members}/${ann.id}`, { body: { access_level: 20 } })).status).toBe(404);

    const audit = await auditOf(noun === 'group' ? 'Group' : 'Project', place.id);
    expect(audit).toEqual([
      'member_created',
      'member_created',
      'member_updated',
      'member_updated',
      'member_destroyed',
    ]);
    if (noun === 'project') {
      expect(await activityOf(place)).toEqual([
        ['joined', ann.id],
        ['joined', bob.id],
        ['left', ann.id],
      ]);
    }
  });

  it('answers 409 to the second of two who add at once', async () => {
    const twice = await makeUser(ashlar);
    const body = { user_id: twice.id, access_level: 30 };
    const both = await Promise.all([1, 2].map(() => ashlar.as(owner.token)(`POST ${members}`, { body })));
    expect(both.map((each) => each.status).sort()).toEqual([201, 409]);
    expect(both.find((each) => each.status === 409)?.body.message).toBe('Member already exists');
  });

  it('refuses what is wrong, naming it', async () => {
    const ann = await makeUser(ashlar);
    const bot = await makeUser(ashlar, { kind: 'project_bot' });
    const add = (body: unknown) => ashlar.as(owner.token)(`POST ${members}`, { body });
    const missing = await add({ user_id: ann.id });
    expect([missing.status, missing.body.message]).toEqual([
      400,
      '400 Bad request - "access_level" not given',
    ]);
    expect((await add({ access_level: 30 })).body.error).toContain('exactly one parameter');
    expect((await add({ user_id: 1, username: 'x', access_level: 30 })).body.error).toContain(
      'mutually exclusive',
    );
    expect((await add({ user_id: ann.id, access_level: 31 })).body.message).toEqual({
      access_level: ['does not have a valid value'],
    });
    expect((await add({ user_id: ann.id, access_level: 30, expires_at: on(-1) })).body.message).toEqual({
      expires_at: ['cannot be a date in the past'],
    });
    const unknown = await add({ user_id: 99_999_999, access_level: 30 });
    expect([unknown.status, unknown.body.message]).toEqual([404, '404 User Not Found']);
    expect((await add({ user_id: bot.id, access_level: 30 })).status).toBe(400);
    const minimal = await add({ user_id: ann.id, access_level: 5 });
    expect(minimal.status).toBe(noun === 'group' ? 201 : 400);
  });

  it('adds several at once, and says who was left out and why', async () => {
    const [ann, bob] = [await makeUser(ashlar), await makeUser(ashlar)];
    await makeMember(
      ashlar,
      noun === 'group' ? { namespace_id: place.id } : { project_id: place.id },
      ann,
      20,
    );
    const as = ashlar.as(owner.token);
    const mixed = await as(`POST ${members}`, {
      body: { user_id: `${ann.id},${bob.id},99999999`, access_level: 30 },
    });
    expect(mixed.status).toBe(201);
    expect(mixed.body).toEqual({
      status: 'error',
      message: { [ann.username]: 'User already exists in source', 99999999: '404 User Not Found' },
    });
    expect((await as(`GET ${members}/${ann.id}`)).body.access_level).toBe(20);
    expect((await as(`GET ${members}/${bob.id}`)).body.access_level).toBe(30);
    const [cem, dan] = [await makeUser(ashlar), await makeUser(ashlar)];
    const all = await as(`POST ${members}`, { body: { user_id: [cem.id, dan.id], access_level: 30 } });
    expect(all.body).toEqual({ status: 'success' });
  });

  it('lists by user, a page at a time, filtered', async () => {
    const listed = await makeProjectOrGroup();
    const people = [await makeUser(ashlar), await makeUser(ashlar), await makeUser(ashlar)];
    for (const person of people.toReversed()) await makeMember(ashlar, listed.keys, person, 30);
    const list = (query: string) => ashlar.as(owner.token)(`GET ${listed.path}/members`, { query });
    const [ann, bob, cem] = people.map((person) => person.username);
    const direct = noun === 'group' ? [owner.username] : [];
    expect(namesOf((await list('')).body)).toEqual([...direct, ann, bob, cem]);
    const page = await list(`per_page=2&page=2&skip_users[]=${owner.id}`);
    expect(namesOf(page.body)).toEqual([cem]);
    expect(page.headers.get('x-total')).toBe('3');
    expect(namesOf((await list(`query=${bob?.slice(2)}`)).body)).toEqual([bob]);
    expect((await list('query=%25')).body).toEqual([]);
    expect(namesOf((await list(`user_ids=${people[0]?.id},${people[2]?.id}`)).body)).toEqual([ann, cem]);
    const seats = await list(`user_ids=${people[0]?.id}&show_seat_info=true`);
    expect(seats.body[0].is_using_seat).toBe(true);
    expect((await list('state=awaiting')).body).toEqual([]);
  });

  /** One more of its kind, whose only owner is the same. */
  async function makeProjectOrGroup() {
    const made =
      noun === 'group' ? await makeGroup(ashlar, { owner }) : await makeProject(ashlar, { of: group });
    return {
      ...made,
      path: `/${noun}s/${made.id}`,
      keys: noun === 'group' ? { namespace_id: made.id } : { project_id: made.id },
    };
  }

  it('lets nobody manage, or give, more than they have', async () => {
    const here = await makeProjectOrGroup();
    const people = [];
    for (const level of [30, 40, 50]) {
      const person = await makeUser(ashlar);
      await makeMember(ashlar, here.keys, person, level);
      people.push(person);
    }
    const [developer, maintainer, other] = people as [MadeUser, MadeUser, MadeUser];
    const ann = await makeUser(ashlar);
    const status = async (who: MadeUser, request: string, body?: unknown) =>
      (await ashlar.as(who.token)(request, { body })).status;
    const manages = noun === 'project';
    for (const who of [developer, ann]) {
      const refused = who === ann ? 404 : 403;
      expect(await status(who, `POST ${here.path}/members`, { user_id: ann.id, access_level: 10 })).toBe(
        refused,
      );
      expect(await status(who, `DELETE ${here.path}/members/${other.id}`)).toBe(refused);
    }
    expect(await status(maintainer, `POST ${here.path}/members`, { user_id: ann.id, access_level: 50 })).toBe(
      403,
    );
    expect(await status(maintainer, `PUT ${here.path}/members/${other.id}`, { access_level: 30 })).toBe(403);
    expect(await status(maintainer, `PUT ${here.path}/members/${maintainer.id}`, { access_level: 50 })).toBe(
      403,
    );
    expect(await status(maintainer, `DELETE ${here.path}/members/${other.id}`)).toBe(403);
    expect(await status(maintainer, `POST ${here.path}/members`, { user_id: ann.id, access_level: 40 })).toBe(
      manages ? 201 : 403,
    );
    expect((await ashlar.call(`GET ${here.path}/members`)).status).toBe(404);
    expect((await ashlar.call(`DELETE ${here.path}/members/${other.id}`)).status).toBe(401);
    expect(await status(developer, `DELETE ${here.path}/members/${developer.id}`)).toBe(204);
  });

  it('neither shows nor counts who has expired, and lets them join anew', async () => {
    const here = await makeProjectOrGroup();
    const [ann, bob] = [await makeUser(ashlar), await makeUser(ashlar)];
    await makeMember(ashlar, here.keys, ann, 30, on(0));
    await makeMember(ashlar, here.keys, bob, 30, on(-3));
    expect((await ashlar.root(`GET ${here.path}/members/${ann.id}`)).status).toBe(404);
    expect((await ashlar.as(ann.token)(`GET ${here.path}/members`)).status).toBe(404);
    const again = await ashlar.root(`POST ${here.path}/members`, {
      body: { user_id: ann.id, access_level: 20 },
    });
    expect(again.body).toMatchObject({ access_level: 20, expires_at: null });
    expect(await expireMembers(database())).toBeGreaterThanOrEqual(1);
    expect(await expireMembers(database())).toBe(0);
    if (noun === 'project') {
      expect(await activityOf(here)).toEqual([
        ['expired', ann.id],
        ['joined', ann.id],
        ['expired', bob.id],
      ]);
    }
    expect(await auditOf(noun === 'group' ? 'Group' : 'Project', here.id)).toEqual([
      'member_destroyed',
      'member_created',
      'member_destroyed',
    ]);
  });
});

describe('inheritance', () => {
  it('gives members/all one row per user, with the highest level, and members the own ones', async () => {
    const [owner, ann, bob, cem] = [
      await makeUser(ashlar),
      await makeUser(ashlar),
      await makeUser(ashlar),
      await makeUser(ashlar),
    ];
    const top = await makeGroup(ashlar, { owner });
    const sub = await makeGroup(ashlar, { parent: top });
    const project = await makeProject(ashlar, { of: sub });
    await makeMember(ashlar, { namespace_id: top.id }, ann, 20);
    await makeMember(ashlar, { namespace_id: top.id }, cem, 5);
    await makeMember(ashlar, { namespace_id: sub.id }, ann, 30);
    await makeMember(ashlar, { project_id: project.id }, ann, 40);
    await makeMember(ashlar, { namespace_id: sub.id }, bob, 10);
    const levels = async (path: string) =>
      (await ashlar.root(`GET ${path}`)).body.map((each: { username: string; access_level: number }) => [
        each.username,
        each.access_level,
      ]);
    expect(await levels(`/projects/${project.id}/members`)).toEqual([[ann.username, 40]]);
    expect(await levels(`/projects/${project.id}/members/all`)).toEqual([
      [owner.username, 50],
      [ann.username, 40],
      [bob.username, 10],
    ]);
    expect(await levels(`/groups/${sub.id}/members/all`)).toEqual([
      [owner.username, 50],
      [ann.username, 30],
      [bob.username, 10],
    ]);
    expect(await levels(`/groups/${top.id}/members`)).toEqual([
      [owner.username, 50],
      [ann.username, 20],
      [cem.username, 5],
    ]);
    const one = await ashlar.root(`GET /projects/${project.id}/members/all/${owner.id}`);
    expect(one.body.access_level).toBe(50);
    expect((await ashlar.root(`GET /projects/${project.id}/members/${owner.id}`)).status).toBe(404);
    expect((await ashlar.root(`GET /projects/${project.id}/members/all/${cem.id}`)).status).toBe(404);
  });

  it('refuses less than a group above gives', async () => {
    const [owner, ann] = [await makeUser(ashlar), await makeUser(ashlar)];
    const top = await makeGroup(ashlar, { owner, name: 'Foundation' });
    const project = await makeProject(ashlar, { of: top });
    await makeMember(ashlar, { namespace_id: top.id }, ann, 30);
    const as = ashlar.as(owner.token);
    const members = `/projects/${project.id}/members`;
    const less = await as(`POST ${members}`, { body: { user_id: ann.id, access_level: 20 } });
    const message = {
      access_level: [
        'should be greater than or equal to Developer inherited membership from group Foundation',
      ],
    };
    expect([less.status, less.body.message]).toEqual([400, message]);
    expect((await as(`POST ${members}`, { body: { user_id: ann.id, access_level: 40 } })).status).toBe(201);
    const lowered = await as(`PUT ${members}/${ann.id}`, { body: { access_level: 10 } });
    expect([lowered.status, lowered.body.message]).toEqual([400, message]);
  });

  it('counts members of invited groups up to the share, and hides those of groups that the caller cannot see', async () => {
    const [owner, ann, guest] = [await makeUser(ashlar), await makeUser(ashlar), await makeUser(ashlar)];
    const host = await makeGroup(ashlar, { owner });
    const project = await makeProject(ashlar, { of: host });
    const invited = await makeGroup(ashlar);
    await makeMember(ashlar, { namespace_id: invited.id }, ann, 50, on(9));
    await makeMember(ashlar, { project_id: project.id }, guest, 10);
    const created_at = new Date();
    const link = { group_access: 20, expires_at: on(5), created_at };
    await database()
      .insertInto('project_group_links')
      .values({ project_id: project.id, group_id: invited.id, ...link })
      .execute();
    const path = `/projects/${project.id}/members/all`;
    const seen = await ashlar.as(owner.token)(`GET ${path}/${ann.id}`);
    expect(seen.body).toMatchObject({ access_level: 20, expires_at: on(5) });
    expect((await ashlar.as(guest.token)(`GET ${path}/${ann.id}`)).status).toBe(404);
    expect((await ashlar.as(ann.token)(`GET ${path}/${ann.id}`)).status).toBe(200);
    await database().updateTable('namespaces').set({ visibility: 10 }).where('id', '=', invited.id).execute();
    expect((await ashlar.as(guest.token)(`GET ${path}/${ann.id}`)).status).toBe(200);
  });

  it('ends what is inside a group with the membership of the group, unless told to keep it', async () => {
    const [owner, ann] = [await makeUser(ashlar), await makeUser(ashlar)];
    const top = await makeGroup(ashlar, { owner });
    const sub = await makeGroup(ashlar, { parent: top });
    const project = await makeProject(ashlar, { of: sub });
    const elsewhere = await makeGroup(ashlar, { owner });
    for (const keep of [true, false]) {
      await database().deleteFrom('members').where('user_id', '=', ann.id).execute();
      for (const namespace_id of [top.id, sub.id, elsewhere.id])
        await makeMember(ashlar, { namespace_id }, ann, 30);
      await makeMember(ashlar, { project_id: project.id }, ann, 40);
      const query = keep ? 'skip_subresources=true' : '';
      const done = await ashlar.as(owner.token)(`DELETE /groups/${top.id}/members/${ann.id}`, { query });
      expect(done.status).toBe(204);
      const left = await database()
        .selectFrom('members')
        .select('id')
        .where('user_id', '=', ann.id)
        .execute();
      expect(left).toHaveLength(keep ? 3 : 1);
    }
    expect(await activityOf(project)).toEqual([['left', ann.id]]);
  });
});

describe('the last owner', () => {
  it('can neither go nor step down, also when two try at once', async () => {
    const [ann, bob] = [await makeUser(ashlar), await makeUser(ashlar)];
    const group = await makeGroup(ashlar, { owner: ann });
    await makeMember(ashlar, { namespace_id: group.id }, bob, 50);
    const path = `/groups/${group.id}/members`;
    const leave = (who: MadeUser) => ashlar.as(who.token)(`DELETE ${path}/${who.id}`);
    const both = await Promise.all([leave(ann), leave(bob)]);
    expect(both.map((each) => each.status).sort()).toEqual([204, 403]);
    const last = both[0].status === 403 ? ann : bob;
    const as = ashlar.as(last.token);
    expect((await as(`PUT ${path}/${last.id}`, { body: { access_level: 40 } })).status).toBe(403);
    const forATime = { access_level: 50, expires_at: on(3) };
    expect((await as(`PUT ${path}/${last.id}`, { body: forATime })).status).toBe(403);
    expect((await as(`PUT ${path}/${last.id}`, { body: { access_level: 50 } })).status).toBe(200);
  });

  it('for good can neither go nor step down while the others are owners for a time, or blocked', async () => {
    const [ann, bob, cem] = [await makeUser(ashlar), await makeUser(ashlar), await makeUser(ashlar)];
    const group = await makeGroup(ashlar, { owner: ann });
    await makeMember(ashlar, { namespace_id: group.id }, bob, 50, on(1));
    await makeMember(ashlar, { namespace_id: group.id }, cem, 50);
    expect((await ashlar.root(`POST /users/${cem.id}/block`)).status).toBe(201);
    const path = `/groups/${group.id}/members`;
    const as = ashlar.as(ann.token);
    const limits = [{ access_level: 40 }, { access_level: 50, expires_at: on(3) }];
    const tries = async () => [
      (await as(`DELETE ${path}/${ann.id}`)).status,
      (await ashlar.as(bob.token)(`DELETE ${path}/${ann.id}`)).status,
      ...(await Promise.all(
        limits.map(async (body) => (await as(`PUT ${path}/${ann.id}`, { body })).status),
      )),
      (await ashlar.root(`DELETE /users/${ann.id}`)).status,
    ];
    expect(await tries()).toEqual([403, 403, 403, 403, 409]);
    // A member whose membership ends with the day may leave before.
    expect((await ashlar.as(bob.token)(`DELETE ${path}/${bob.id}`)).status).toBe(204);
    expect((await ashlar.root(`POST /users/${cem.id}/unblock`)).status).toBe(201);
    expect((await as(`DELETE ${path}/${ann.id}`)).status).toBe(204);
  });

  it('of a subgroup stays with it when it leaves the group above at the same time', async () => {
    for (let round = 0; round < 4; round++) {
      const [ann, bob] = [await makeUser(ashlar), await makeUser(ashlar)];
      const top = await makeGroup(ashlar, { owner: ann });
      const sub = await makeGroup(ashlar, { parent: top, owner: bob });
      await Promise.all([
        ashlar.as(ann.token)(`POST /groups/${sub.id}/transfer`),
        ashlar.as(bob.token)(`DELETE /groups/${sub.id}/members/${bob.id}`),
      ]);
      const moved = (await ashlar.root(`GET /groups/${sub.id}`)).body;
      expect(moved.parent_id).toBe(null);
      const owners = (await ashlar.root(`GET /groups/${sub.id}/members`)).body as { access_level: number }[];
      expect(owners.filter(({ access_level }) => access_level === 50).length).toBeGreaterThan(0);
    }
  });

  it('of a subgroup may go: there are owners above', async () => {
    const [ann, bob] = [await makeUser(ashlar), await makeUser(ashlar)];
    const top = await makeGroup(ashlar, { owner: ann });
    const sub = await makeGroup(ashlar, { parent: top, owner: bob });
    expect((await ashlar.as(bob.token)(`DELETE /groups/${sub.id}/members/${bob.id}`)).status).toBe(204);
  });

  it('of a personal project is its holder, who is listed and untouchable', async () => {
    const ann = await makeUser(ashlar);
    const project = await makeProject(ashlar, { of: ann });
    const path = `/projects/${project.id}/members`;
    const as = ashlar.as(ann.token);
    expect((await as(`GET ${path}`)).body).toMatchObject([{ id: ann.id, access_level: 50 }]);
    expect((await as(`GET ${path}/all`)).body).toHaveLength(1);
    expect((await as(`POST ${path}`, { body: { user_id: ann.id, access_level: 30 } })).status).toBe(409);
    expect((await as(`PUT ${path}/${ann.id}`, { body: { access_level: 30 } })).status).toBe(403);
    expect((await as(`DELETE ${path}/${ann.id}`)).status).toBe(403);
  });
});

describe('membership lock', () => {
  it('keeps new members out of projects of the group', async () => {
    const [owner, ann] = [await makeUser(ashlar), await makeUser(ashlar)];
    const top = await makeGroup(ashlar, { owner });
    const project = await makeProject(ashlar, { of: await makeGroup(ashlar, { parent: top }) });
    await database()
      .updateTable('namespaces')
      .set({ settings: { membership_lock: true } })
      .where('id', '=', top.id)
      .execute();
    const body = { user_id: ann.id, access_level: 30 };
    const as = ashlar.as(owner.token);
    expect((await as(`POST /projects/${project.id}/members`, { body })).status).toBe(405);
    expect((await as(`POST /projects/${project.id}/invitations`, { body })).status).toBe(405);
    expect((await as(`POST /groups/${top.id}/members`, { body })).status).toBe(201);
  });
});

describe('POST /projects/:id/import_project_members/:project_id', () => {
  it('copies own members, passes over who is there, and brings owners only for owners', async () => {
    const [owner, maintainer, ann, bob, cem] = [
      await makeUser(ashlar),
      await makeUser(ashlar),
      await makeUser(ashlar),
      await makeUser(ashlar),
      await makeUser(ashlar),
    ];
    const group = await makeGroup(ashlar, { owner });
    await makeMember(ashlar, { namespace_id: group.id }, cem, 40);
    const to = await makeProject(ashlar, { of: group });
    const from = await makeProject(ashlar, { of: await makeGroup(ashlar, { owner }) });
    await makeMember(ashlar, { project_id: to.id }, maintainer, 40);
    await makeMember(ashlar, { project_id: to.id }, ann, 10);
    await makeMember(ashlar, { project_id: from.id }, maintainer, 20);
    for (const [user, level] of [
      [ann, 30],
      [bob, 50],
      [cem, 20],
    ] as const) {
      await makeMember(ashlar, { project_id: from.id }, user, level, on(7));
    }
    const path = `/projects/${to.id}/import_project_members/${from.id}`;
    expect((await ashlar.as(ann.token)(`POST ${path}`)).status).toBe(403);
    const done = await ashlar.as(maintainer.token)(`POST ${path}`);
    expect(done.status).toBe(200);
    expect(done.body).toEqual({
      status: 'error',
      message: { [cem.username]: expect.stringContaining('Maintainer inherited membership') },
      total_members_count: 4,
    });
    const level = async (user: MadeUser) =>
      (await ashlar.root(`GET /projects/${to.id}/members/${user.id}`)).body.access_level;
    expect([await level(ann), await level(bob), await level(cem)]).toEqual([10, 40, undefined]);
    const unseen = await makeProject(ashlar, { of: await makeGroup(ashlar) });
    expect(
      (await ashlar.as(maintainer.token)(`POST /projects/${to.id}/import_project_members/${unseen.id}`))
        .status,
    ).toBe(404);
  });
});

describe('a private group seen from inside', () => {
  it('shows itself to a member of one of its projects, not who is in it', async () => {
    const [owner, guest] = [await makeUser(ashlar), await makeUser(ashlar)];
    const group = await makeGroup(ashlar, { owner });
    const project = await makeProject(ashlar, { of: group });
    await makeMember(ashlar, { project_id: project.id }, guest, 10);
    const call = ashlar.as(guest.token);
    expect((await call(`GET /groups/${group.id}`)).status).toBe(200);
    for (const path of ['members', 'members/all', `members/${owner.id}`, `members/all/${owner.id}`]) {
      expect((await call(`GET /groups/${group.id}/${path}`)).status).toBe(403);
    }
    expect((await ashlar.as(owner.token)(`GET /groups/${group.id}/members`)).status).toBe(200);
  });
});
