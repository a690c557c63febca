import { describe, expect, it } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  auditEventsOf,
  bodyOf,
  makeGroup,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';
import { eventsOf } from './levels.ts';

const app = useApp({ env: { ASHLAR_TIER: 'premium' } });

const GUEST = 10;
const nothingChosen = {
  ...Object.fromEntries(eventsOf('premium').map((event) => [event, null])),
  failed_pipeline: true,
  fixed_pipeline: true,
  moved_project: true,
};

describe('the global setting', () => {
  it('is to participate, at the primary address, until something is said', async () => {
    const user = await makeUser(app);
    const call = app.as(user.token);
    const email = `${user.username}@example.com`;
    expect((await call('GET /notification_settings')).body).toEqual({
      level: 'participating',
      notification_email: email,
    });
    const changed = await call('PUT /notification_settings', { body: { level: 'watch' } });
    expect(changed).toMatchObject({ status: 200, body: { level: 'watch', notification_email: email } });
    expect((await call('GET /notification_settings')).body).toEqual(changed.body);
  });

  it.each(['disabled', 'participating', 'watch', 'global', 'mention', 'custom'])(
    'can be %s, without events',
    async (level) => {
      const user = await makeUser(app);
      const body = { level, new_note: true };
      const changed = await app.as(user.token)('PUT /notification_settings', { body });
      expect(changed.body).toEqual({ level, notification_email: `${user.username}@example.com` });
    },
  );

  it('goes to a confirmed address of the caller only, however it is written, and comes back when that goes', async () => {
    const user = await makeUser(app);
    const call = app.as(user.token);
    const other = await makeUser(app);
    const confirmed = `${user.username}-2@example.com`;
    const made = await app.root(`POST /users/${user.id}/emails`, {
      body: { email: confirmed, skip_confirmation: true },
    });
    await call('POST /user/emails', { body: { email: `${user.username}-3@example.com` } });
    const put = (notification_email: unknown) =>
      call('PUT /notification_settings', { body: { level: 'mention', notification_email } });
    for (const wrong of [
      `${user.username}-3@example.com`,
      `${other.username}@example.com`,
      'nobody@example.com',
    ]) {
      expect(await put(wrong)).toMatchObject({
        status: 400,
        body: { message: { notification_email: ['is not an email you own'] } },
      });
    }
    // The failed request changed nothing.
    expect((await call('GET /notification_settings')).body.level).toBe('participating');
    expect((await put(confirmed.toUpperCase())).body.notification_email).toBe(confirmed);
    expect(await auditEventsOf(app, user.id)).toContain('user_profile_updated');
    expect((await call(`DELETE /user/emails/${made.body.id}`)).status).toBe(204);
    const primary = `${user.username}@example.com`;
    expect((await call('GET /notification_settings')).body.notification_email).toBe(primary);
  });

  it.each(['', null])('goes to the primary address again by %j', async (notification_email) => {
    const user = await makeUser(app);
    const email = `${user.username}-2@example.com`;
    await app.root(`POST /users/${user.id}/emails`, { body: { email, skip_confirmation: true } });
    const call = app.as(user.token);
    await call('PUT /notification_settings', { body: { notification_email: email } });
    const back = await call('PUT /notification_settings', { body: { notification_email } });
    expect(back.body.notification_email).toBe(`${user.username}@example.com`);
  });

  it('is for those who are signed in', async () => {
    expect((await app.call('GET /notification_settings')).status).toBe(401);
    expect((await app.call('PUT /notification_settings', { body: { level: 'watch' } })).status).toBe(401);
  });
});

describe.each(['group', 'project'] as const)('the setting of a %s', (kind) => {
  const make = async (visibility: string) => {
    const place =
      kind === 'group' ? await makeGroup(app, { visibility }) : await makeProject(app, { visibility });
    return {
      id: place.id,
      path: `/${kind}s/${place.id}/notification_settings`,
      members: `${kind}s/${place.id}` as const,
    };
  };

  it('refers to what is above it until something is said', async () => {
    const user = await makeUser(app);
    const place = await make('public');
    const call = app.as(user.token);
    expect(await call(`GET ${place.path}`)).toMatchObject({ status: 200, body: { level: 'global' } });
    expect((await call(`PUT ${place.path}`, { body: { level: 'watch' } })).body).toEqual({ level: 'watch' });
    expect((await call(`GET ${place.path}`)).body).toEqual({ level: 'watch' });
    // Other users' settings, and other scopes, stay as they were.
    expect((await app.root(`GET ${place.path}`)).body.level).toBe('global');
    expect((await call('GET /notification_settings')).body.level).toBe('participating');
  });

  it('keeps choices of events at every level, and shows them where they count', async () => {
    const user = await makeUser(app);
    const { path } = await make('public');
    const call = app.as(user.token);
    const put = (body: unknown) => call(`PUT ${path}`, { body });
    expect((await put({ new_note: true, failed_pipeline: false, approver: true })).body).toEqual({
      level: 'global',
    });
    const custom = await put({ level: 'custom' });
    expect(custom.body.events).toEqual({ ...nothingChosen, new_note: true, failed_pipeline: false });
    expect(Object.keys(custom.body.events)).toEqual(eventsOf('premium'));
    expect((await put({ new_note: false, new_epic: true })).body.events).toMatchObject({
      new_note: false,
      new_epic: true,
    });
    const forgotten = await put({ new_note: null, failed_pipeline: null, new_epic: null });
    expect(forgotten.body).toEqual({ level: 'custom', events: nothingChosen });
  });

  it('stays as it is when nothing is said that it knows', async () => {
    const user = await makeUser(app);
    const { path } = await make('public');
    const call = app.as(user.token);
    await call(`PUT ${path}`, { body: { level: 'mention' } });
    expect(await call(`PUT ${path}`, { body: { unknown: 1, user_id: 1 } })).toMatchObject({
      status: 200,
      body: { level: 'mention' },
    });
  });

  it.each([
    [{ level: 'invalid' }, { message: "'invalid' is not a valid level" }],
    [{ level: '' }, { message: "'' is not a valid level" }],
    [{ new_note: 'perhaps' }, { error: 'new_note is invalid' }],
    [{ new_note: 2, new_issue: 'x' }, { error: 'new_note is invalid, new_issue is invalid' }],
  ])('refuses %j', async (body, response) => {
    const user = await makeUser(app);
    const { path } = await make('public');
    expect(await app.as(user.token)(`PUT ${path}`, { body })).toMatchObject({ status: 400, body: response });
    expect((await app.as(user.token)(`GET ${path}`)).body.level).toBe('global');
  });

  it('takes what a form sends', async () => {
    const user = await makeUser(app);
    const { path } = await make('public');
    const form = 'level=custom&new_note=true&close_issue=false&failed_pipeline=';
    const changed = await app.as(user.token)(`PUT ${path}`, { form });
    expect(changed.body.events).toEqual({ ...nothingChosen, new_note: true, close_issue: false });
  });

  it('is for those who see the place', async () => {
    const user = await makeUser(app);
    const call = app.as(user.token);
    const hidden = await make('private');
    const open = await make('public');
    for (const method of ['GET', 'PUT']) {
      const body = method === 'PUT' ? { body: { level: 'watch' } } : {};
      expect((await app.call(`${method} ${open.path}`, body)).status).toBe(401);
      expect((await call(`${method} ${hidden.path}`, body)).status).toBe(404);
    }
    await addMember(app, hidden.members, user, GUEST);
    expect((await call(`PUT ${hidden.path}`, { body: { level: 'watch' } })).body.level).toBe('watch');
  });

  it('is one, when it is said many times at once', async () => {
    const user = await makeUser(app);
    const { path } = await make('public');
    const call = app.as(user.token);
    const events = eventsOf('premium').slice(0, 8);
    const responses = await Promise.all(
      events.map((event) => call(`PUT ${path}`, { body: { level: 'custom', [event]: false } })),
    );
    expect(responses.map(({ status }) => status)).toEqual(events.map(() => 200));
    const { body } = await call(`GET ${path}`);
    expect(events.map((event) => body.events[event])).toEqual(events.map(() => false));
  });

  it('goes with the user', async () => {
    const user = await makeUser(app);
    const { path } = await make('public');
    await app.as(user.token)(`PUT ${path}`, { body: { level: 'watch' } });
    await app.root(`DELETE /users/${user.id}`);
    const { sql } = app.app.services.database;
    await expect
      .poll(async () => (await sql`select from users where id = ${user.id}`).length, { timeout: 20_000 })
      .toBe(0);
    expect(await sql`select from notification_settings where user_id = ${user.id}`).toHaveLength(0);
  });
});

describe('permissions of a project', () => {
  it('show the levels of the project and of the nearest group that says something', async () => {
    const user = await makeUser(app);
    const call = app.as(user.token);
    const top = await makeGroup(app);
    const inner = await makeGroup(app, { parent_id: top.id });
    const project = await makeProject(app, { namespace_id: inner.id });
    await addMember(app, `groups/${top.id}`, user, 30);
    const permissions = async () => {
      const { body } = await call(`GET /projects/${project.id}`);
      const { body: list } = await call('GET /projects', { query: 'membership=true' });
      expect(list[0].permissions).toEqual(body.permissions);
      return body.permissions;
    };
    const say = async (place: string, level: string) =>
      bodyOf(await call(`PUT /${place}/notification_settings`, { body: { level } }), 200);
    expect(await permissions()).toEqual({
      project_access: null,
      group_access: { access_level: 30, notification_level: 3 },
    });
    await say(`groups/${top.id}`, 'watch');
    expect((await permissions()).group_access.notification_level).toBe(2);
    await say(`groups/${inner.id}`, 'mention');
    expect((await permissions()).group_access.notification_level).toBe(4);
    await say(`groups/${inner.id}`, 'global');
    expect((await permissions()).group_access.notification_level).toBe(2);
    await addMember(app, `projects/${project.id}`, user, 40);
    expect((await permissions()).project_access).toEqual({ access_level: 40, notification_level: 3 });
    await say(`projects/${project.id}`, 'disabled');
    expect((await permissions()).project_access).toEqual({ access_level: 40, notification_level: 0 });
  });
});
