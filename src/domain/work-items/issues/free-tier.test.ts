/** Issues in a tier without weights, epics, health, blocking, and several assignees. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { addMember, bodyOf, makeProject, makeUser } from '../../../../test/support/factories.ts';

const app = useApp({ env: { ASHLAR_TIER: 'free' } });

test('what belongs to higher tiers is passed over, and blocking refused', async () => {
  const project = await makeProject(app);
  const path = `/projects/${project.id}/issues`;
  const people = [await makeUser(app), await makeUser(app)];
  for (const user of people) await addMember(app, `projects/${project.id}`, user, 20);
  const body = {
    title: 'One',
    weight: 3,
    health_status: 'on_track',
    epic_id: 1,
    assignee_ids: people.map(({ id }) => id),
    labels: 'size::1,size::2',
  };
  const issue = bodyOf(await app.root(`POST ${path}`, { body }), 201);
  expect(issue.assignees.map(({ id }: { id: number }) => id)).toEqual([people[0]?.id]);
  expect(issue.labels).toEqual(['size::1', 'size::2']);
  expect(Object.keys(issue)).not.toEqual(expect.arrayContaining(['weight']));
  const [row] = await app.app.services.database.sql`
    select weight, health_status from issues where id = ${issue.id}`;
  expect(row).toEqual({ weight: null, health_status: null });

  const other = bodyOf(await app.root(`POST ${path}`, { body: { title: 'Two' } }), 201);
  const link = (link_type: string) =>
    app.root(`POST ${path}/${issue.iid}/links`, {
      body: { target_project_id: project.id, target_issue_iid: other.iid, link_type },
    });
  expect([(await link('blocks')).status, (await link('is_blocked_by')).status]).toEqual([403, 403]);
  expect((await link('relates_to')).status).toBe(201);
  expect((await app.root(`GET ${path}/${issue.iid}/resource_weight_events`)).status).toBe(403);
  const promotion = await app.root(`POST ${path}/${issue.iid}/notes`, { body: { body: '/promote' } });
  expect([promotion.status, promotion.body.message]).toEqual([
    400,
    '400 Bad request - Could not apply promote command.',
  ]);
});
