/** Alerts in Free: one integration of each type, no mapping, one assignee, no pictures. */
import { expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { addMember, bodyOf, makeProject, makeUser } from '../../../test/support/factories.ts';

const app = useApp({ env: { ASHLAR_TIER: 'free' } });

test('one integration of each type, without a mapping', async () => {
  const { id } = await makeProject(app);
  const path = `/projects/${id}/alert_management_integrations`;
  const make = (type: string, rest = {}) =>
    app.root(`POST ${path}`, { body: { name: 'Tool', type, ...rest } });
  expect((await make('http', { payload_example: { a: 'b' } })).status).toBe(403);
  const statuses = await Promise.all(['http', 'http', 'http', 'metrics'].map((type) => make(type)));
  expect(statuses.map(({ status }) => status).sort()).toEqual([201, 201, 403, 403]);
  const fields = await app.root(`POST /projects/${id}/alert_management_payload_fields`, {
    body: { payload_example: {} },
  });
  expect(fields.status).toBe(403);
});

test('one works on an alert, and nobody adds pictures', async () => {
  const { id } = await makeProject(app);
  const integrations = `/projects/${id}/alert_management_integrations`;
  const made = bodyOf(await app.root(`POST ${integrations}`, { body: { name: 'Tool', type: 'http' } }), 201);
  bodyOf(await app.root(`POST ${integrations}/${made.id}/test`, { body: { payload: {} } }), 200);
  const [first, second] = [await makeUser(app), await makeUser(app)];
  for (const user of [first, second]) await addMember(app, `projects/${id}`, user, 30);
  const path = `/projects/${id}/alert_management_alerts/1`;
  const body = { assignee_ids: [second.id, first.id] };
  const { assignees } = bodyOf(await app.root(`PUT ${path}`, { body }), 200);
  expect(assignees.map((each: { id: number }) => each.id)).toEqual([second.id]);
  expect((await app.root(`GET ${path}/metric_images`)).status).toBe(403);
});
