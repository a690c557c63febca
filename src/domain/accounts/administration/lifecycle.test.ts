import { describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  createUser,
  type MadeUser,
  makeGroup,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';
import { makeIssue } from '../../../../test/support/planning.ts';

const app = useApp();
const database = () => app.app.services.database.sql;

const change = (user: { id: number }, name: string) => app.root(`POST /users/${user.id}/${name}`);
const stateOf = async (user: { id: number }) => bodyOf(await app.root(`GET /users/${user.id}`), 200).state;

describe('states (facts §2)', () => {
  test('block and unblock, seen at the next request', async () => {
    const ada = await makeUser(app);
    expect(bodyOf(await change(ada, 'block'), 201)).toBe(true);
    expect(bodyOf(await change(ada, 'block'), 201)).toBe(null);
    expect(await stateOf(ada)).toBe('blocked');
    expect((await app.as(ada.token)('GET /user')).status).toBe(403);
    expect((await change(ada, 'activate')).status).toBe(403);
    expect(bodyOf(await change(ada, 'unblock'), 201)).toBe(true);
    expect((await app.as(ada.token)('GET /user')).status).toBe(200);
    for (const unchanged of ['unblock', 'activate'])
      expect(bodyOf(await change(ada, unchanged), 201)).toBe(null);
  });

  test('ban and unban', async () => {
    const ada = await makeUser(app);
    expect((await change(ada, 'unban')).status).toBe(403);
    bodyOf(await change(ada, 'ban'), 201);
    expect(await stateOf(ada)).toBe('banned');
    for (const refused of ['ban', 'block', 'unblock', 'activate']) {
      expect((await change(ada, refused)).status).toBe(403);
    }
    bodyOf(await change(ada, 'unban'), 201);
    expect(await stateOf(ada)).toBe('active');
  });

  test('deactivate the dormant only', async () => {
    const ada = await makeUser(app);
    await app.as(ada.token)('GET /user');
    const refused = await change(ada, 'deactivate');
    expect(refused).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('past 90 days') },
    });
    await database()`update users set last_activity_on = '2020-01-01' where id = ${ada.id}`;
    expect(bodyOf(await change(ada, 'deactivate'), 201)).toBe(true);
    expect(bodyOf(await change(ada, 'deactivate'), 201)).toBe(null);
    expect(await stateOf(ada)).toBe('deactivated');
    bodyOf(await change(ada, 'activate'), 201);
    expect(await stateOf(ada)).toBe('active');
  });

  test('approve and reject those who wait', async () => {
    const [ada, bob] = [await makeUser(app), await makeUser(app)];
    expect((await change(ada, 'approve')).status).toBe(409);
    expect((await change(ada, 'reject')).status).toBe(409);
    await database()`update users set state = 'blocked_pending_approval' where id in (${ada.id}, ${bob.id})`;
    expect(bodyOf(await change(ada, 'approve'), 201)).toEqual({ message: 'Success' });
    expect(await stateOf(ada)).toBe('active');
    expect(bodyOf(await change(bob, 'reject'), 201)).toEqual({ message: 'Success' });
    expect((await app.root(`GET /users/${bob.id}`)).status).toBe(404);
  });

  test('not oneself, not by others, not somebody unknown', async () => {
    const ada = await makeUser(app);
    for (const name of ['block', 'ban', 'deactivate'])
      expect((await change({ id: 1 }, name)).status).toBe(403);
    expect((await app.as(ada.token)(`POST /users/${ada.id}/unblock`)).status).toBe(403);
    expect((await change({ id: 999_999 }, 'block')).status).toBe(404);
  });

  test('not of the program itself', async () => {
    for (const kind of ['ghost', 'alert_bot']) {
      const own = await makeUser(app);
      await database()`update users set kind = ${kind} where id = ${own.id}`;
      for (const name of ['block', 'ban'])
        expect([kind, name, (await change(own, name)).status]).toEqual([kind, name, 403]);
      const changed = await app.root(`PUT /users/${own.id}`, { body: { name: 'Other' } });
      expect([kind, changed.status]).toEqual([kind, 403]);
      for (const query of ['', 'hard_delete=true'])
        expect([kind, (await app.root(`DELETE /users/${own.id}`, { query })).status]).toEqual([kind, 403]);
      expect(await stateOf(own)).toBe('active');
      await database()`update users set kind = 'human' where id = ${own.id}`;
    }
  });

  test('the second factor is forgotten, but not an administrator’s', async () => {
    const ada = await makeUser(app);
    const disable = (id: number) => app.root(`PATCH /users/${id}/disable_two_factor`);
    expect((await disable(ada.id)).status).toBe(400);
    expect((await disable(1)).status).toBe(403);
    await database()`update users set otp_enabled_at = now(), otp_secret_sealed = 'x' where id = ${ada.id}`;
    expect((await app.root('GET /users', { query: 'two_factor=enabled' })).body).toHaveLength(1);
    expect((await disable(ada.id)).status).toBe(204);
    expect(bodyOf(await app.root(`GET /users/${ada.id}`), 200).two_factor_enabled).toBe(false);
  });
});

describe('what users are part of', () => {
  test('memberships and how many', async () => {
    const ada = await makeUser(app);
    const group = await makeGroup(app);
    await addMember(app, `groups/${group.id}`, ada, 30);
    const memberships = await app.root(`GET /users/${ada.id}/memberships`);
    expect(bodyOf(memberships, 200)).toEqual([
      { source_id: group.id, source_name: group.full_path, source_type: 'Namespace', access_level: 30 },
    ]);
    const projects = await app.root(`GET /users/${ada.id}/memberships`, { query: 'type=Project' });
    expect(bodyOf(projects, 200)).toEqual([]);
    const project = await makeProject(app, { namespace_id: group.id });
    await makeIssue(app, project, {}, ada);
    await makeIssue(app, project);
    await database()`insert into merge_requests
      (iid, project_id, source_branch, target_branch, author_id, title, draft, created_at, updated_at)
      select id, ${project.id}, 'topic-' || id, 'main', id, 'Topic', false, now(), now()
      from users where id in (1, ${ada.id})`;
    const counts = { groups_count: 1, projects_count: 0, issues_count: 1, merge_requests_count: 1 };
    expect(bodyOf(await app.as(ada.token)(`GET /users/${ada.id}/associations_count`), 200)).toEqual(counts);
    expect((await app.as(ada.token)('GET /users/1/associations_count')).status).toBe(403);
    expect((await app.as(ada.token)(`GET /users/${ada.id}/memberships`)).status).toBe(403);
  });

  test('when they were last here', async () => {
    const ada = await makeUser(app);
    await database()`update users set last_activity_on = '2021-05-05' where id = ${ada.id}`;
    const since = (from: string) => app.root('GET /user/activities', { query: `from=${from}` });
    expect(bodyOf(await since('2021-01-01'), 200)[0]).toEqual({
      username: ada.username,
      last_activity_on: '2021-05-05',
      last_activity_at: '2021-05-05',
    });
    expect(JSON.stringify((await app.root('GET /user/activities')).body)).not.toContain(ada.username);
  });
});

/** Waits until the background has deleted the user. */
async function gone(user: { id: number }): Promise<void> {
  await expect
    .poll(async () => (await database()`select from users where id = ${user.id}`).length, { timeout: 20_000 })
    .toBe(0);
}

describe('removing users', () => {
  const remove = (user: { id: number }, query = '') => app.root(`DELETE /users/${user.id}`, { query });

  test('everything is out of sight at once, and what they made goes to the ghost', async () => {
    const ada = await makeUser(app);
    const bob = await makeUser(app);
    const asAda = app.as(ada.token);
    const group = await makeGroup(app);
    await addMember(app, `groups/${group.id}`, ada, 40);
    const personal = bodyOf(
      await asAda('POST /projects', { body: { name: 'mine', visibility: 'public' } }),
      201,
    );
    const shared = bodyOf(
      await asAda('POST /projects', { body: { name: 'ours', namespace_id: group.id } }),
      201,
    );
    bodyOf(await app.as(bob.token)(`POST /users/${ada.id}/follow`), 201);
    bodyOf(await asAda('POST /user/emails', { body: { email: 'second@example.org' } }), 201);

    expect((await remove(ada)).status).toBe(204);
    expect((await asAda('GET /user')).status).toBe(401);
    expect((await app.root(`GET /users/${ada.id}`)).status).toBe(404);
    expect((await app.root('GET /users', { query: `username=${ada.username}` })).body).toEqual([]);
    expect((await app.root(`GET /projects/${personal.id}`)).status).toBe(404);
    expect(bodyOf(await app.root(`GET /groups/${group.id}/members`), 200)).toHaveLength(1);
    expect(bodyOf(await app.root(`GET /users/${bob.id}/following`), 200)).toEqual([]);
    expect((await remove(ada)).status).toBe(404);

    await gone(ada);
    const ghost = bodyOf(await app.root('GET /users', { query: 'username=ghost' }), 200)[0];
    expect(ghost).toMatchObject({ username: 'ghost', name: 'Ghost User', bot: false });
    expect(bodyOf(await app.root(`GET /projects/${shared.id}`), 200)).toMatchObject({ name: 'ours' });
    const left = await database()`
      select from activity_events where author_id = ${ada.id}
      union all select from projects where id = ${personal.id}
      union all select from namespaces where owner_id = ${ada.id}
      union all select from emails where user_id = ${ada.id}`;
    expect(left).toHaveLength(0);
    const handed = await database()`
      select from activity_events where author_id = ${ghost.id} and project_id = ${shared.id}`;
    expect(handed.length).toBeGreaterThan(0);
    // Name and addresses are free again.
    await createUser(app, { username: ada.username, email: 'second@example.org' });
    expect((await remove(ghost)).status).toBe(403);
    expect((await app.root(`PUT /users/${ghost.id}`, { body: { admin: true } })).status).toBe(403);
    expect((await change(ghost, 'block')).status).toBe(403);
  });

  test('the ghost is one, however many go at once', async () => {
    const users: MadeUser[] = [];
    for (let count = 0; count < 4; count++) users.push(await makeUser(app));
    const responses = await Promise.all(users.map((user) => remove(user)));
    expect(responses.map((response) => response.status)).toEqual([204, 204, 204, 204]);
    for (const user of users) await gone(user);
    expect(await database()`select from users where kind = 'ghost'`).toHaveLength(1);
  });

  test('a sole owner stays, unless the group goes as well', async () => {
    const ada = await makeUser(app);
    const bob = await makeUser(app);
    const group = bodyOf(
      await app.as(ada.token)('POST /groups', { body: { name: 'alone', path: 'alone' } }),
      201,
    );
    const refused = await remove(ada);
    expect(refused).toMatchObject({ status: 409, body: { message: expect.stringContaining('sole-owner') } });
    expect((await app.as(ada.token)('GET /user')).status).toBe(200);
    await addMember(app, `groups/${group.id}`, bob, 50);
    expect((await remove(ada)).status).toBe(204);
    expect((await remove(bob)).status).toBe(409);
    expect((await remove(bob, 'hard_delete=true')).status).toBe(204);
    expect((await app.root(`GET /groups/${group.id}`)).status).toBe(404);
    await gone(ada);
    await gone(bob);
  });

  test('of two owners who are removed at once one stays', async () => {
    const [ada, bob] = [await makeUser(app), await makeUser(app)];
    const group = bodyOf(
      await app.as(ada.token)('POST /groups', { body: { name: 'pair', path: 'pair' } }),
      201,
    );
    await addMember(app, `groups/${group.id}`, bob, 50);
    const responses = await Promise.all([remove(ada), remove(bob)]);
    expect(responses.map((response) => response.status).sort()).toEqual([204, 409]);
  });

  test('not when the user has changed since, not oneself, not by others', async () => {
    const ada = await makeUser(app);
    const headers = { 'if-unmodified-since': 'Thu, 01 Jan 2015 00:00:00 GMT' };
    expect((await app.root(`DELETE /users/${ada.id}`, { headers })).status).toBe(412);
    expect((await app.as(ada.token)(`DELETE /users/${ada.id}`)).status).toBe(403);
    expect((await remove({ id: 1 })).status).toBe(403);
    expect((await app.as(ada.token)('GET /user')).status).toBe(200);
  });

  test('a deletion that was cut short is taken up again', async () => {
    const ada = await makeUser(app);
    await database()`update namespaces set deleting = true where owner_id = ${ada.id}`;
    await database()`
      update users set deletion = 'reassign', updated_at = now() - interval '1 hour' where id = ${ada.id}`;
    await database()`select graphile_worker.add_job('users.resume_deletions')`;
    await gone(ada);
  });
});
