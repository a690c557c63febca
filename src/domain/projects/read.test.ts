/** Reading projects over HTTP. */
import { describe, expect, it } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { addMember, makeGroup, makeProject, makeUser } from '../../../test/support/factories.ts';

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
      project_access: null,
      group_access: { access_level: 50, notification_level: 3 },
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
