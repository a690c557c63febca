/**
 * Issues that are made at the same moment are inserted by one statement: none gets another's fields, or fails
 * for another's fault.
 */
import { expect, test } from 'vitest';
import { useApp } from '../support/app.ts';
import { bodyOf, makeProject, makeUser } from '../support/factories.ts';

const app = useApp();
const sql = () => app.app.services.database.sql;

test('each is what was asked for, in its own project, with its own sides', async () => {
  const projects = [await makeProject(app), await makeProject(app), await makeProject(app)];
  const users = [await makeUser(app), await makeUser(app)];
  for (const { id } of projects)
    for (const user of users)
      bodyOf(
        await app.root(`POST /projects/${id}/members`, { body: { user_id: user.id, access_level: 30 } }),
        201,
      );
  const requested = Array.from({ length: 60 }, (_, n) => ({
    project_id: projects[n % 3]?.id ?? 0,
    by: users[n % 2],
    title: `Title "${n}" \\ €`,
    description: n % 5 === 0 ? null : `Text ${n}\nwith {"json": [${n}]}`,
    labels: Array.from({ length: n % 3 }, (_, label) => `label ${n % 7}-${label}`),
    assignee_ids: n % 4 === 0 ? users.map(({ id }) => id).slice(0, 1 + (n % 8 === 0 ? 1 : 0)) : [],
    weight: n % 6 === 0 ? n : null,
    confidential: n % 10 === 0,
    due_date: n % 9 === 0 ? '2030-02-28' : null,
  }));
  const made = await Promise.all(
    requested.map(async ({ by, project_id, ...body }) =>
      bodyOf(await app.as(by?.token ?? '')(`POST /projects/${project_id}/issues`, { body }), 201),
    ),
  );
  for (const [n, issue] of made.entries()) {
    const { by, assignee_ids, ...rest } = requested[n] ?? { by: undefined, assignee_ids: [] };
    const { body: shown } = await app.root(`GET /projects/${issue.project_id}/issues/${issue.iid}`);
    for (const response of [issue, shown]) {
      expect(response).toMatchObject({ ...rest, author: { id: by?.id } });
      const assigned = response.assignees.map(({ id }: { id: number }) => id);
      expect(assigned.toSorted()).toEqual(assignee_ids.toSorted());
    }
    expect(issue.id).toBe(shown.id);
  }
  for (const { id } of projects) {
    const iids = made.filter((issue) => issue.project_id === id).map(({ iid }) => iid as number);
    expect(iids.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
    const inOrder = await sql()<{ iid: number; event: number }[]>`
      select i.iid, e.id as event from issues i join activity_events e on e.target_type = 'Issue' and e.target_id = i.id
      where i.project_id = ${id} order by i.id`;
    expect(inOrder.map(({ iid }) => iid)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
    const events = inOrder.map(({ event }) => event);
    expect(events).toEqual(events.toSorted((one, other) => one - other));
    const audited = await sql()<{ target: number; title: string }[]>`
      select (details->>'target_id')::bigint as target, details->>'target_details' as title from audit_events
      where entity_type = 'Project' and entity_id = ${id} and event_name = 'issue_created'`;
    const known = new Map(made.map((issue) => [issue.id, issue.title]));
    expect(audited).toHaveLength(20);
    for (const { target, title } of audited) expect(title).toBe(known.get(target));
  }
});

test('what the database refuses of one is refused to that one only, and uses no number up', async () => {
  await sql()`alter table issues add constraint no_stones check (title <> 'stone') not valid`;
  const project = await makeProject(app);
  const titles = Array.from({ length: 24 }, (_, n) => (n % 5 === 3 ? 'stone' : `Title ${n}`));
  const responses = await Promise.all(
    titles.map((title) => app.root(`POST /projects/${project.id}/issues`, { body: { title } })),
  );
  await sql()`alter table issues drop constraint no_stones`;
  for (const [n, response] of responses.entries())
    expect(response.status === 201, `${titles[n]} is made`).toBe(titles[n] !== 'stone');
  const iids = responses.flatMap(({ status, body }) => (status === 201 ? [body.iid as number] : []));
  expect(iids.toSorted((a, b) => a - b)).toEqual(iids.map((_, n) => n + 1));
});

test('a project whose counter is held keeps nobody waiting but its own', async () => {
  const [held, free] = [await makeProject(app), await makeProject(app)];
  const create = async (id: number) =>
    (await app.root(`POST /projects/${id}/issues`, { body: { title: 'One' } })).status;
  expect(await create(held.id)).toBe(201);
  let waiting: Promise<number>[] = [];
  let answered = 0;
  await sql().begin(async (tx) => {
    await tx`select from project_counters where project_id = ${held.id} for update`;
    waiting = Array.from({ length: 4 }, () => create(held.id));
    for (const one of waiting) void one.then(() => (answered += 1));
    const others = await Promise.all(Array.from({ length: 12 }, () => create(free.id)));
    expect(others).toEqual(Array.from({ length: 12 }, () => 201));
    expect(answered).toBe(0);
  });
  expect(await Promise.all(waiting)).toEqual([201, 201, 201, 201]);
});
