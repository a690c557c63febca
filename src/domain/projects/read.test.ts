/** Reading projects over HTTP. */
import { describe, expect, it } from 'vitest';
import { useApp } from '../../../test/support/app.ts';

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
