/** Access requests and invitations over HTTP (facts: Members API, Invitation). */
import { beforeAll, describe, expect, it } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { hiddenFields, openBrowser, signInAs } from '../../../../test/support/browser.ts';
import {
  type Made,
  type MadeUser,
  makeGroup,
  makeMember,
  makeProject,
  makeUser,
} from '../../../../test/support/rows.ts';
import { acceptInvitations } from '../../../kernel/access/invitation-actions.ts';
import { inTransaction } from '../../../platform/db/database.ts';

const ashlar = useApp();
const database = () => ashlar.app.services.database.db;

describe.each(['project', 'group'] as const)('a %s', (noun) => {
  let owner: MadeUser;
  let place: Made;
  let path: string;

  beforeAll(async () => {
    owner = await makeUser(ashlar);
    const group = await makeGroup(ashlar, { owner, visibility: 20 });
    place = noun === 'group' ? group : await makeProject(ashlar, { of: group, visibility: 20 });
    path = `/${noun}s/${place.id}`;
  });

  it('is asked for access once, and its managers decide', async () => {
    const ann = await makeUser(ashlar);
    const ask = () => ashlar.as(ann.token)(`POST ${path}/access_requests`);
    const both = await Promise.all([ask(), ask()]);
    expect(both.map((each) => each.status).sort()).toEqual([201, 400]);
    expect(both.find((each) => each.status === 400)?.body.message).toEqual({
      user_id: ['already exists in source'],
    });
    expect((await ashlar.call(`POST ${path}/access_requests`)).status).toBe(401);
    expect((await ashlar.as(ann.token)(`GET ${path}/access_requests`)).status).toBe(403);
    const listed = await ashlar.as(owner.token)(`GET ${path}/access_requests`);
    expect(listed.body).toMatchObject([{ id: ann.id, requested_at: expect.stringContaining('T') }]);

    const approve = `PUT ${path}/access_requests/${ann.id}/approve`;
    expect((await ashlar.as(ann.token)(approve)).status).toBe(403);
    const approved = await ashlar.as(owner.token)(approve, { body: { access_level: 20 } });
    expect(approved.status).toBe(201);
    expect(approved.body).toMatchObject({ id: ann.id, access_level: 20 });
    expect((await ashlar.as(owner.token)(approve)).status).toBe(404);
    expect((await ask()).status).toBe(400);
    expect((await ashlar.as(owner.token)(`GET ${path}/access_requests`)).body).toEqual([]);
  });

  it('lets requests be denied, and withdrawn by who asked only', async () => {
    const [ann, bob] = [await makeUser(ashlar), await makeUser(ashlar)];
    for (const each of [ann, bob]) await ashlar.as(each.token)(`POST ${path}/access_requests`);
    const remove = (who: MadeUser, whose: MadeUser) =>
      ashlar.as(who.token)(`DELETE ${path}/access_requests/${whose.id}`);
    expect((await remove(bob, ann)).status).toBe(403);
    expect((await remove(ann, ann)).status).toBe(204);
    expect((await remove(owner, bob)).status).toBe(204);
    expect((await remove(owner, bob)).status).toBe(404);
  });

  it('takes no requests when they are turned off, nor from who cannot see it', async () => {
    const ann = await makeUser(ashlar);
    const hidden = await makeGroup(ashlar, { owner });
    expect((await ashlar.as(ann.token)(`POST /groups/${hidden.id}/access_requests`)).status).toBe(404);
    const table = noun === 'group' ? 'namespaces' : 'projects';
    const set = (request_access_enabled: boolean) =>
      database()
        .updateTable(table)
        .set({ settings: { request_access_enabled } })
        .where('id', '=', place.id)
        .execute();
    await set(false);
    expect((await ashlar.as(ann.token)(`POST ${path}/access_requests`)).status).toBe(403);
    await set(true);
    expect((await ashlar.as(ann.token)(`POST ${path}/access_requests`)).status).toBe(201);
  });

  it('invites by mail, shows the token to administrators only, changes and takes back', async () => {
    const as = ashlar.as(owner.token);
    const email = `someone+${noun}@example.com`;
    const invited = await as(`POST ${path}/invitations`, { body: { email, access_level: 30 } });
    expect([invited.status, invited.body]).toEqual([201, { status: 'success' }]);
    const again = await as(`POST ${path}/invitations`, {
      body: { email: `${email.toUpperCase()},nonsense`, access_level: 30 },
    });
    expect(again.body).toEqual({
      status: 'error',
      message: {
        [email.toUpperCase()]: 'Invite email has already been taken',
        nonsense: 'Invite email is invalid',
      },
    });
    const [shown] = (await as(`GET ${path}/invitations`, { query: 'query=SOMEONE' })).body;
    expect(shown).toMatchObject({ invite_email: email, access_level: 30, created_by_name: owner.username });
    expect(shown.invite_token).toBeUndefined();
    const [full] = (await ashlar.root(`GET ${path}/invitations`)).body;
    expect(full.invite_token.length).toBeGreaterThan(20);
    expect((await as(`GET ${path}/invitations`, { query: 'query=nobody' })).body).toEqual([]);

    const one = `${path}/invitations/${encodeURIComponent(email)}`;
    const changed = await as(`PUT ${one}`, { body: { access_level: 10, expires_at: '2999-01-02' } });
    expect(changed.body).toMatchObject({ access_level: 10, expires_at: '2999-01-02T00:00:00.000Z' });
    const stale = { 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' };
    expect((await as(`DELETE ${one}`, { headers: stale })).status).toBe(412);
    expect((await as(`DELETE ${one}`)).status).toBe(204);
    expect((await as(`DELETE ${one}`)).status).toBe(404);
  });

  it('makes members at once of users, and of whose address the caller may know', async () => {
    const [ann, bob, cem] = [await makeUser(ashlar), await makeUser(ashlar), await makeUser(ashlar)];
    await database().updateTable('users').set({ public_email: cem.email }).where('id', '=', cem.id).execute();
    const invite = (as: typeof ashlar.root, email: string[], user_id?: number[]) =>
      as(`POST ${path}/invitations`, { body: { email, user_id, access_level: 20 } });
    const as = ashlar.as(owner.token);
    const done = await invite(as, [cem.email.toUpperCase()], [ann.id, 99_999_999]);
    expect(done.body).toEqual({ status: 'error', message: { 99999999: '404 User Not Found' } });
    expect((await invite(ashlar.root, [bob.email])).body).toEqual({ status: 'success' });
    for (const each of [ann, bob, cem])
      expect([each.id, (await as(`GET ${path}/members/${each.id}`)).body.access_level]).toEqual([
        each.id,
        20,
      ]);
    const again = await invite(ashlar.root, [bob.email]);
    expect(again.body.message).toEqual({ [bob.email]: 'User already exists in source' });
  });

  it('does not tell by an invitation which address an account has', async () => {
    const [plain, member, hidden] = [await makeUser(ashlar), await makeUser(ashlar), await makeUser(ashlar)];
    await makeMember(
      ashlar,
      noun === 'group' ? { namespace_id: place.id } : { project_id: place.id },
      member,
      20,
    );
    await database()
      .updateTable('users')
      .set({ public_email: hidden.email, private_profile: true })
      .where('id', '=', hidden.id)
      .execute();
    const as = ashlar.as(owner.token);
    const before = (await as(`GET ${path}/members`)).body;
    const addresses = [plain.email, member.email, hidden.email, `nobody-${noun}@example.com`];
    const told: string[] = [];
    for (const email of addresses) {
      const one = `${path}/invitations/${encodeURIComponent(email)}`;
      const responses = [
        await as(`POST ${path}/invitations`, { body: { email, access_level: 20 } }),
        await as(`POST ${path}/invitations`, { body: { email, access_level: 30 } }),
        await as(`GET ${path}/invitations`, { query: `query=${encodeURIComponent(email)}` }),
        await as(`PUT ${one}`, { body: { access_level: 10 } }),
        await as(`DELETE ${one}`),
        await as(`DELETE ${one}`),
        await as(`POST ${path}/invitations`, { body: { email, access_level: 20 } }),
      ];
      const text = JSON.stringify(responses.map(({ status, body }) => [status, body]));
      told.push(text.replaceAll(email, 'ADDRESS').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME'));
    }
    expect(new Set(told).size).toBe(1);
    expect((await as(`GET ${path}/members`)).body).toEqual(before);
  });

  it('lets the owner of an invited address in, who joins or declines', async () => {
    const user = await makeUser(ashlar);
    const stranger = await makeUser(ashlar);
    const as = ashlar.as(owner.token);
    const invite = () =>
      as(`POST ${path}/invitations`, { body: { email: `${user.username}@example.com`, access_level: 30 } });
    const page = '/-/profile/invitations';
    const mine = openBrowser(ashlar);
    await signInAs(mine, user.username, 'correct horse battery staple');
    const other = openBrowser(ashlar);
    await signInAs(other, stranger.username, 'correct horse battery staple');
    expect((await mine.get(page)).text).toContain('There are none.');
    await invite();
    const shown = await mine.get(page);
    expect(shown.text).toContain(place.path);
    const [, action = ''] = new RegExp(`action="(${page}/\\d+)/decline"`).exec(shown.text) ?? [];
    expect(action).not.toBe('');
    expect((await other.get(page)).text).not.toContain(place.path);
    const forms = hiddenFields((await other.get(page)).text, '/users/sign_out');
    expect((await other.post(`${action}/accept`, forms)).status).toBe(303);
    expect((await as(`GET ${path}/members/${stranger.id}`)).status).toBe(404);
    expect((await mine.post(`${action}/accept`, {})).status).toBe(403);
    await mine.submit(page, {}, `${action}/decline`);
    expect((await as(`GET ${path}/members/${user.id}`)).status).toBe(404);
    await invite();
    const [, again = ''] =
      new RegExp(`action="(${page}/\\d+)/accept"`).exec((await mine.get(page)).text) ?? [];
    await mine.submit(page, {}, `${again}/accept`);
    expect((await as(`GET ${path}/members/${user.id}`)).body.access_level).toBe(30);
    expect((await mine.get(page)).text).toContain('There are none.');
  });

  it('lets nobody in by an invitation that lapsed while its form was open', async () => {
    const { sql } = ashlar.app.services.database;
    const page = '/-/profile/invitations';
    for (const [days, status] of [
      [-1, 404],
      [0, 404],
      [2, 200],
    ] as const) {
      const user = await makeUser(ashlar);
      const email = `${user.username}@example.com`;
      const browser = openBrowser(ashlar);
      await signInAs(browser, user.username, 'correct horse battery staple');
      const invited = await ashlar.as(owner.token)(`POST ${path}/invitations`, {
        body: { email, access_level: 30, expires_at: '2999-12-31' },
      });
      expect(invited.status).toBe(201);
      const shown = (await browser.get(page)).text;
      const [, action = ''] = new RegExp(`action="(${page}/\\d+)/accept"`).exec(shown) ?? [];
      const lapses = new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
      await sql`update invitations set expires_at = ${lapses} where email = ${email}`;
      expect((await browser.post(`${action}/accept`, hiddenFields(shown, `${action}/accept`))).status).toBe(
        303,
      );
      expect([days, (await ashlar.as(owner.token)(`GET ${path}/members/${user.id}`)).status]).toEqual([
        days,
        status,
      ]);
      const rows = await sql`select from members where user_id = ${user.id}`;
      expect([days, rows.length]).toEqual([days, status === 200 ? 1 : 0]);
    }
  });

  it('refuses invitations above the own level, and to do anything without managing', async () => {
    const maintainer = await makeUser(ashlar);
    const keys = noun === 'group' ? { namespace_id: place.id } : { project_id: place.id };
    await makeMember(ashlar, keys, maintainer, 40);
    const as = ashlar.as(maintainer.token);
    const invite = (access_level: number) =>
      as(`POST ${path}/invitations`, { body: { email: `x${access_level}@example.com`, access_level } });
    expect((await invite(50)).status).toBe(403);
    expect((await invite(30)).status).toBe(noun === 'project' ? 201 : 403);
    const outsider = await makeUser(ashlar);
    expect((await ashlar.as(outsider.token)(`GET ${path}/invitations`)).status).toBe(403);
    expect((await ashlar.call(`GET ${path}/invitations`)).status).toBe(401);
    const nobody = await ashlar.as(owner.token)(`POST ${path}/invitations`, { body: { access_level: 30 } });
    expect([nobody.status, nobody.body.error]).toEqual([
      400,
      'email, user_id are missing, at least one parameter must be provided',
    ]);
  });
});

it('an account with the address becomes a member of all that invited it, and of nothing that lapsed', async () => {
  const owner = await makeUser(ashlar);
  const group = await makeGroup(ashlar, { owner });
  const project = await makeProject(ashlar, { of: await makeGroup(ashlar, { owner }) });
  const lapsed = await makeGroup(ashlar, { owner });
  const as = ashlar.as(owner.token);
  for (const path of [`/groups/${group.id}`, `/projects/${project.id}`, `/groups/${lapsed.id}`]) {
    await as(`POST ${path}/invitations`, { body: { email: 'Late.Comer@example.com', access_level: 30 } });
  }
  await database()
    .updateTable('invitations')
    .set({ expires_at: '2020-01-01' })
    .where('namespace_id', '=', lapsed.id)
    .execute();
  const late = await makeUser(ashlar);
  await inTransaction(database(), (tx) => acceptInvitations(tx, late.id, 'late.comer@EXAMPLE.com'));
  expect((await as(`GET /groups/${group.id}/members/${late.id}`)).body).toMatchObject({
    access_level: 30,
    created_by: { id: owner.id },
  });
  expect((await as(`GET /projects/${project.id}/members/${late.id}`)).status).toBe(200);
  expect((await as(`GET /groups/${lapsed.id}/members/${late.id}`)).status).toBe(404);
  const left = await database()
    .selectFrom('invitations')
    .select('id')
    .where('email', '=', 'Late.Comer@example.com')
    .execute();
  expect(left).toEqual([]);
  const joined = await database()
    .selectFrom('activity_events')
    .select(['action', 'author_id'])
    .where('project_id', '=', project.id)
    .execute();
  expect(joined).toEqual([{ action: 'joined', author_id: late.id }]);
});
