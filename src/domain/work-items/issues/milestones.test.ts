/** The issues and charts of milestones over HTTP. */
import { beforeAll, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeGroup,
  type MadeProject,
  makeGroup,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';
import { makeIssue, makeMilestone } from '../../../../test/support/planning.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'premium' } });
let group: MadeGroup;
let project: MadeProject;

beforeAll(async () => {
  group = await makeGroup(ashlar);
  project = await makeProject(ashlar, { namespace_id: group.id });
});

test('issues and the chart are as the caller sees them', async () => {
  const dates = { start_date: '2020-01-01', due_date: '2099-01-01' };
  const { id } = await makeMilestone(ashlar, `groups/${group.id}`, dates);
  const plain = await makeIssue(ashlar, project, { milestone_id: id, weight: 3 });
  await makeIssue(ashlar, project, { milestone_id: id, confidential: true });
  const issue = `/projects/${project.id}/issues/${plain.iid}`;
  for (const state_event of ['close', 'reopen'])
    bodyOf(await ashlar.root(`PUT ${issue}`, { body: { state_event } }), 200);
  const guest = await makeUser(ashlar);
  await addMember(ashlar, `groups/${group.id}`, guest, 10);
  const path = `/groups/${group.id}/milestones/${id}`;
  const seen = bodyOf(await ashlar.as(guest.token)(`GET ${path}/issues`), 200);
  expect(seen).toEqual([
    expect.objectContaining({ iid: plain.iid, milestone: expect.objectContaining({ id }) }),
  ]);
  expect((await ashlar.root(`GET ${path}/issues`)).body).toHaveLength(2);
  const events = bodyOf(await ashlar.as(guest.token)(`GET ${path}/burndown_events`), 200);
  expect(events).toEqual(
    ['created', 'closed', 'reopened'].map((action) => ({
      created_at: expect.any(String),
      weight: 3,
      action,
    })),
  );
});

test('a milestone without days has no chart', async () => {
  const { id } = await makeMilestone(ashlar, `projects/${project.id}`);
  const refused = await ashlar.root(`GET /projects/${project.id}/milestones/${id}/burndown_events`);
  expect([refused.status, refused.body.message]).toEqual([405, 'Milestone does not support burndown chart']);
});

test('long descriptions of milestones and labels are part of what a caller may hold at once', async () => {
  const own = await makeProject(ashlar, { namespace_id: group.id });
  const title = Array.from({ length: 34 }, (_, index) => `long ${index}`);
  for (const name of title) {
    const { id } = await makeMilestone(ashlar, `projects/${own.id}`, { title: name });
    await makeIssue(ashlar, own, { milestone_id: id, labels: 'long' });
  }
  const { sql } = ashlar.app.services.database;
  const list = `GET /projects/${own.id}/issues`;
  const lengthen = (table: string, bytes: number) =>
    sql.unsafe(`update ${table} set description = repeat('x', $1) where project_id = $2`, [bytes, own.id]);
  await lengthen('milestones', 1_048_576);
  const refused = await ashlar.root(list, { query: 'per_page=50' });
  expect(refused.status).toBe(429);
  expect(refused.text).toContain('Ask for fewer records with per_page');
  const [issue] = bodyOf(await ashlar.root(list, { query: 'per_page=3' }), 200);
  expect(issue.milestone.description).toHaveLength(1_048_576);
  await lengthen('milestones', 1);
  const labels = Array.from({ length: 65 }, (_, index) => `label ${index}`);
  await makeIssue(ashlar, own, { labels: labels.join() });
  await lengthen('labels', 524_288);
  const details = await ashlar.root(list, { query: 'per_page=1&with_labels_details=true' });
  expect(details.status).toBe(429);
  const named = bodyOf(await ashlar.root(list, { query: 'per_page=1' }), 200);
  expect(named[0].labels).toEqual(labels.toSorted());
});
