/** Reading projects over HTTP. */
import { describe, expect, it } from 'vitest';
import { useApp } from '../../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeUser,
  makeGroup,
  makeProject,
  makeUser,
} from '../../../../../test/support/factories.ts';

describe('GET /projects', () => {
  const ashlar = useApp();

  it('shows nobody public projects only, and the administrator all', async () => {
    const { db } = ashlar.app.services.database;
    const root = await db
      .selectFrom('namespaces')
      .select('id')
      .where('path', '=', 'root')
      .executeTakeFirstOrThrow();
    const time = { created_at: new Date(), updated_at: new Date(), last_activity_at: new Date() };
    for (const visibility of [0, 10, 20]) {
      await db
        .insertInto('projects')
        .values({
          namespace_id: root.id,
          name: `p${visibility}`,
          path: `p${visibility}`,
          visibility,
          ...time,
        })
        .execute();
    }
    const anonymous = await ashlar.call('GET /projects');
    expect(anonymous.body.map((project: { path: string }) => project.path)).toEqual(['p20']);
    const all = await ashlar.root('GET /projects');
    expect(all.body).toHaveLength(3);
    expect(all.headers.get('x-total')).toBe('3');
    expect(all.body[0].permissions).toEqual({
      project_access: { access_level: 50, notification_level: 3 },
      group_access: null,
    });
    const one = await ashlar.root('GET /projects/root%2Fp0');
    expect(one.status).toBe(200);
    expect((await ashlar.call('GET /projects/root%2Fp0')).status).toBe(404);
    const keyset = await ashlar.root('GET /projects', {
      query: 'pagination=keyset&per_page=2&order_by=id&sort=asc',
    });
    expect(keyset.headers.get('link')).toContain('id_after=2');
  });
});

describe('shared_with_groups', () => {
  const ashlar = useApp();

  it('names the groups that the caller sees, and all to administrators', async () => {
    const stranger = await makeUser(ashlar);
    const insider = await makeUser(ashlar);
    const home = await makeGroup(ashlar, { visibility: 'public' });
    const project = await makeProject(ashlar, { namespace_id: home.id, visibility: 'public' });
    const secret = await makeGroup(ashlar);
    const open = await makeGroup(ashlar, { visibility: 'public' });
    await addMember(ashlar, `groups/${secret.id}`, insider, 10);
    for (const group_id of [secret.id, open.id]) {
      const body = { group_id, group_access: 10 };
      expect((await ashlar.root(`POST /projects/${project.id}/share`, { body })).status).toBe(201);
    }
    const namesTo = async (call: typeof ashlar.root, request: string): Promise<string[]> => {
      const { body } = await call(request);
      const [record] = [body].flat();
      return record.shared_with_groups.map((each: { group_full_path: string }) => each.group_full_path);
    };
    for (const request of [`GET /projects/${project.id}`, `GET /groups/${home.id}/projects`]) {
      expect(await namesTo(ashlar.as(stranger.token), request)).toEqual([open.full_path]);
      expect(await namesTo(ashlar.as(insider.token), request)).toEqual([secret.full_path, open.full_path]);
      expect(await namesTo(ashlar.root, request)).toEqual([secret.full_path, open.full_path]);
    }
    const detail = await ashlar.as(stranger.token)(`GET /groups/${home.id}`);
    expect(detail.text).not.toContain(secret.full_path);
  });
});

describe('a personal project', () => {
  const ashlar = useApp();

  it("is its owner's own: in permissions, among its users and in its search", async () => {
    const [owner, member, invited, stranger] = [
      await makeUser(ashlar),
      await makeUser(ashlar),
      await makeUser(ashlar),
      await makeUser(ashlar),
    ];
    const call = ashlar.as(owner.token);
    const made = bodyOf(await call('POST /projects', { body: { name: 'mine', visibility: 'public' } }), 201);
    const at = `projects/${made.id}` as const;
    const group = await makeGroup(ashlar, { visibility: 'public' });
    await addMember(ashlar, `groups/${group.id}`, owner, 10);
    await addMember(ashlar, `groups/${group.id}`, invited, 20);
    bodyOf(await ashlar.root(`POST /${at}/share`, { body: { group_id: group.id, group_access: 30 } }), 201);
    await addMember(ashlar, at, member, 30);
    const level = (access_level: number, notification_level = 3) => ({ access_level, notification_level });
    const own = { project_access: level(50), group_access: null };
    expect(made.permissions).toEqual(own);
    const cases: [user: MadeUser, permissions: object][] = [
      [owner, own],
      [member, { project_access: level(30), group_access: null }],
      [invited, { project_access: null, group_access: level(20) }],
      [stranger, { project_access: null, group_access: null }],
    ];
    for (const [user, permissions] of cases) {
      const as = ashlar.as(user.token);
      expect([user.id, bodyOf(await as(`GET /${at}`), 200).permissions]).toEqual([user.id, permissions]);
      for (const list of ['/projects', `/users/${owner.id}/projects`])
        expect([user.id, bodyOf(await as(`GET ${list}`), 200)[0].permissions]).toEqual([
          user.id,
          permissions,
        ]);
    }
    bodyOf(await call(`PUT /${at}/notification_settings`, { body: { level: 'watch' } }), 200);
    expect(bodyOf(await call(`GET /${at}`), 200).permissions.project_access).toEqual(level(50, 2));

    const ids = async (path: string, query: string) =>
      bodyOf(await ashlar.as(stranger.token)(`GET ${path}`, { query }), 200)
        .map(({ id }: { id: number }) => id)
        .sort((one: number, other: number) => one - other);
    const people = [owner.id, member.id];
    expect(await ids(`/${at}/search`, 'scope=users&search=user-')).toEqual(people);
    expect(await ids(`/${at}/search`, `scope=users&search=${owner.username}`)).toContain(owner.id);
    expect(await ids(`/${at}/users`, '')).toEqual(people);
    expect(await ids(`/${at}/users`, `skip_users=${owner.id}`)).toEqual([member.id]);
    expect(await ids(`/${at}/members`, '')).toEqual(people);

    // Once a group has it, it is the owner's no longer.
    bodyOf(await ashlar.root(`PUT /${at}/transfer`, { body: { namespace: group.id } }), 200);
    expect(bodyOf(await call(`GET /${at}`), 200).permissions).toEqual({
      project_access: null,
      group_access: level(10),
    });
  });
});
