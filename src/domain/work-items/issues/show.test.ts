/** One issue: its record in full, and its participants. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { insertIssue, insertMilestone } from '../../../../test/support/issues.ts';
import { makeGroup, makeMember, makeProject, makeUser } from '../../../../test/support/rows.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'ultimate' } });
const stamps = () => ({ created_at: new Date(), updated_at: new Date() });

test('the record of an issue', async () => {
  const { db } = ashlar.app.services.database;
  const owner = await makeUser(ashlar);
  const helper = await makeUser(ashlar);
  const group = await makeGroup(ashlar, { owner });
  const project = await makeProject(ashlar, { of: group });
  const milestone_id = await insertMilestone(ashlar, { project_id: project.id, title: 'First' });
  const base = { project_id: project.id, author_id: owner.id };
  const original = await insertIssue(ashlar, base);
  const time = new Date('2026-01-02T03:04:05.678Z');
  const issue = await insertIssue(ashlar, {
    ...{ ...base, title: 'Fix the arch', description: '- [x] find\n- [ ] fix', state: 'closed' },
    ...{
      closed_at: time,
      closed_by_id: helper.id,
      created_at: time,
      updated_at: time,
      due_date: '2026-02-03',
    },
    ...{ assignee_ids: [owner.id, helper.id], labels: ['b', 'a'], milestone_id, weight: 2 },
    ...{
      health_status: 'on_track',
      time_estimate: 3_600,
      duplicated_to_id: original.id,
      issue_type: 'incident',
    },
  });
  await db
    .insertInto('timelogs')
    .values({ issue_id: issue.id, user_id: owner.id, seconds: 5_400, spent_at: time, created_at: time })
    .execute();
  const link = { source_id: issue.id, target_id: original.id, link_type: 'blocks', ...stamps() };
  await db.insertInto('issue_links').values(link).execute();
  const { id: epicId } = await db
    .insertInto('epics')
    .values({
      ...{ iid: 4, namespace_id: group.id, author_id: owner.id, title: 'All' },
      relative_position: 1,
      ...stamps(),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await db
    .insertInto('epic_issues')
    .values({ epic_id: epicId, issue_id: issue.id, relative_position: 1 })
    .execute();

  const { status, body } = await ashlar.as(owner.token)(`GET /projects/${project.id}/issues/${issue.iid}`);
  const api = `${ashlar.url}/api/v4/projects/${project.id}`;
  expect(status).toBe(200);
  expect(body).toMatchObject({
    ...{ id: issue.id, iid: 2, project_id: project.id, title: 'Fix the arch', state: 'closed' },
    ...{
      created_at: time.toISOString(),
      closed_at: time.toISOString(),
      due_date: '2026-02-03',
      start_date: null,
    },
    closed_by: { id: helper.id },
    labels: ['a', 'b'],
    milestone: { id: milestone_id, title: 'First', project_id: project.id },
    assignees: [{ id: owner.id }, { id: helper.id }],
    assignee: { id: owner.id },
    author: { id: owner.id, username: owner.username },
    ...{ type: 'INCIDENT', issue_type: 'incident', severity: 'UNKNOWN', confidential: false },
    ...{ weight: 2, health_status: 'on_track', blocking_issues_count: 1, merge_requests_count: 0 },
    time_stats: {
      ...{ time_estimate: 3_600, total_time_spent: 5_400 },
      ...{ human_time_estimate: '1h', human_total_time_spent: '1h 30m' },
    },
    ...{ has_tasks: true, task_status: '1 of 2 checklist items completed' },
    task_completion_status: { count: 2, completed_count: 1 },
    references: { short: '#2', relative: '#2', full: `${project.path}#2` },
    web_url: `${ashlar.url}/${project.path}/-/issues/2`,
    _links: {
      ...{
        self: `${api}/issues/2`,
        notes: `${api}/issues/2/notes`,
        award_emoji: `${api}/issues/2/award_emoji`,
      },
      ...{ project: api, closed_as_duplicate_of: `${api}/issues/1` },
    },
    ...{ subscribed: true, moved_to_id: null, imported: false, imported_from: 'none', iteration: null },
    epic_iid: 4,
    epic: { id: epicId, iid: 4, title: 'All', url: `/groups/${group.path}/-/epics/4`, group_id: group.id },
  });
  const fromGroup = await ashlar.root(`GET /groups/${group.id}/issues`, { query: 'iids=2' });
  expect(fromGroup.body[0].references.relative).toBe(`${project.path}#2`);
  expect(fromGroup.body[0]).not.toHaveProperty('subscribed');
});

test('an issue by its id is for administrators', async () => {
  const owner = await makeUser(ashlar);
  const project = await makeProject(ashlar, { of: owner });
  const issue = await insertIssue(ashlar, { project_id: project.id, author_id: owner.id });
  expect((await ashlar.root(`GET /issues/${issue.id}`)).body.id).toBe(issue.id);
  expect((await ashlar.root('GET /issues/999999')).status).toBe(404);
  expect((await ashlar.as(owner.token)(`GET /issues/${issue.id}`)).status).toBe(403);
});

test('what an issue was made with is for administrators', async () => {
  const owner = await makeUser(ashlar);
  const project = await makeProject(ashlar, { of: owner });
  const base = { project_id: project.id, author_id: owner.id };
  await insertIssue(ashlar, { ...base, user_agent: 'curl/8', ip_address: '192.0.2.1' });
  await insertIssue(ashlar, base);
  const path = `GET /projects/${project.id}/issues`;
  const { body } = await ashlar.root(`${path}/1/user_agent_detail`);
  expect(body).toEqual({ user_agent: 'curl/8', ip_address: '192.0.2.1', akismet_submitted: false });
  expect((await ashlar.root(`${path}/2/user_agent_detail`)).status).toBe(404);
  expect((await ashlar.as(owner.token)(`${path}/1/user_agent_detail`)).status).toBe(403);
});

test('participants are the author, assignees and commenters, but for internal notes', async () => {
  const [author, assignee, commenter, insider] = await Promise.all([1, 2, 3, 4].map(() => makeUser(ashlar)));
  if (!author || !assignee || !commenter || !insider) return expect.fail();
  const project = await makeProject(ashlar, { of: author, visibility: 20 });
  const issue = await insertIssue(ashlar, {
    ...{ project_id: project.id, author_id: author.id, assignee_ids: [assignee.id] },
  });
  const note = { project_id: project.id, issue_id: issue.id, body: 'Hello', ...stamps() };
  await ashlar.app.services.database.db
    .insertInto('notes')
    .values([
      { ...note, author_id: commenter.id, discussion_id: 'a' },
      { ...note, author_id: insider.id, discussion_id: 'b', internal: true },
    ])
    .execute();
  const path = `GET /projects/${project.id}/issues/1/participants`;
  const { body, headers } = await ashlar.call(path);
  expect(body.map((user: { id: number }) => user.id).toSorted()).toEqual(
    [author.id, assignee.id, commenter.id].toSorted(),
  );
  expect(headers.get('x-total')).toBe('3');
});

test('the free tier shows no weight, epic or health', async () => {
  const owner = await makeUser(ashlar);
  const project = await makeProject(ashlar, { of: owner });
  await insertIssue(ashlar, { project_id: project.id, author_id: owner.id, weight: 1 });
  await makeMember(ashlar, { project_id: project.id }, await makeUser(ashlar), 10);
  const { config } = ashlar.app.services;
  Object.assign(config, { tier: 'free' });
  try {
    const { body } = await ashlar.root(`GET /projects/${project.id}/issues/1`);
    for (const name of ['weight', 'epic', 'epic_iid', 'iteration', 'health_status'])
      expect(body).not.toHaveProperty(name);
  } finally {
    Object.assign(config, { tier: 'ultimate' });
  }
});

test('an issue is read together with others, unless its description is long', async () => {
  const { sql } = ashlar.app.services.database;
  const owner = await makeUser(ashlar);
  const project = await makeProject(ashlar, { of: owner });
  const seen: string[] = [];
  sql.watch((text) => seen.push(text));
  for (const [length, statements] of [
    [16_384, 0],
    [16_385, 1],
  ] as const) {
    const description = 'a'.repeat(length);
    const { iid } = await insertIssue(ashlar, { project_id: project.id, author_id: owner.id, description });
    const { body } = await ashlar.as(owner.token)(`GET /projects/${project.id}/issues/${iid}`);
    expect(body.description).toBe(description);
    expect(seen.filter((text) => text.startsWith('select * from "issues"'))).toHaveLength(statements);
  }
});
