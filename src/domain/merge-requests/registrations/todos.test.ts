/** To-do items about merge requests, and what waits for a user, over HTTP. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeUser,
  makeMembers,
  makeUser,
} from '../../../../test/support/factories.ts';
import {
  makeMergeRequest,
  makeReaderWorld,
  makeReviewedProject,
  readersBySettings,
  readersWho,
} from '../../../../test/support/merge-requests.ts';

const ashlar = useApp();

const todosOf = async (user: MadeUser, query = 'type=MergeRequest') =>
  bodyOf(await ashlar.as(user.token)('GET /todos', { query }), 200);
const countsOf = async (user: MadeUser) => bodyOf(await ashlar.as(user.token)('GET /user_counts'), 200);

test('one is marked once, shown as it is, and done', async () => {
  const project = await makeReviewedProject(ashlar);
  const { reporter, developer } = await makeMembers(
    ashlar,
    `projects/${project.id}`,
    'reporter',
    'developer',
  );
  const made = await makeMergeRequest(ashlar, project.id, 'topic');
  const path = `/projects/${project.id}/merge_requests/${made.iid}/todo`;
  const as = ashlar.as(reporter.token);
  const todo = bodyOf(await as(`POST ${path}`), 201);
  expect(todo).toMatchObject({
    project: { id: project.id },
    author: { id: reporter.id },
    action_name: 'marked',
    target_type: 'MergeRequest',
    target: { id: made.id, iid: made.iid, references: { relative: made.references.full } },
    target_url: made.web_url,
    body: 'Merge topic',
    state: 'pending',
  });
  expect((await as(`POST ${path}`)).status).toBe(304);
  expect(await todosOf(reporter)).toEqual([todo]);
  expect(await todosOf(reporter, 'type=Issue')).toEqual([]);
  expect(await todosOf(developer)).toEqual([]);
  expect((await ashlar.as(developer.token)(`POST /todos/${todo.id}/mark_as_done`)).status).toBe(404);
  bodyOf(await as(`POST /todos/${todo.id}/mark_as_done`), 201);
  expect(await todosOf(reporter)).toEqual([]);
});

test('those who have a part in it find it in their lists and counts, while it is open', async () => {
  const project = await makeReviewedProject(ashlar);
  const names = ['reporter', 'developer', 'maintainer'] as const;
  const { reporter, developer, maintainer } = await makeMembers(ashlar, `projects/${project.id}`, ...names);
  const made = await makeMergeRequest(ashlar, project.id, 'topic', {
    assignee_ids: [reporter.id],
    reviewer_ids: [developer.id],
    description: `What does @${maintainer.username} think?`,
  });
  const actions = async (user: MadeUser) =>
    (await todosOf(user)).map((todo: { action_name: string; target: { id: number } }) => [
      todo.action_name,
      todo.target.id,
    ]);
  expect(await actions(reporter)).toEqual([['assigned', made.id]]);
  expect(await actions(developer)).toEqual([['review_requested', made.id]]);
  expect(await actions(maintainer)).toEqual([['mentioned', made.id]]);
  expect(await todosOf(developer, 'action=review_requested')).toHaveLength(1);
  expect(await todosOf(developer, 'action=assigned')).toHaveLength(0);
  const none = { merge_requests: 0, assigned_merge_requests: 0, review_requested_merge_requests: 0 };
  expect(await countsOf(reporter)).toMatchObject({ ...none, merge_requests: 1, assigned_merge_requests: 1 });
  expect(await countsOf(developer)).toMatchObject({ ...none, review_requested_merge_requests: 1 });
  expect(await countsOf(maintainer)).toMatchObject({ ...none, todos: 1 });
  await ashlar.app.services.database.sql`update merge_requests set state = 'merged' where id = ${made.id}`;
  for (const user of [reporter, developer]) expect(await countsOf(user)).toMatchObject(none);
});

test.each(readersBySettings)(
  'with %j they are shown to, counted for and marked by %j alone',
  async (settings, names) => {
    const world = await makeReaderWorld(ashlar, settings);
    const { id, iid } = world.mergeRequest;
    const path = `POST /projects/${world.project.id}/merge_requests/${iid}/todo`;
    const { sql } = ashlar.app.services.database;
    for (const user of Object.values(world.readers)) {
      await sql`insert into todos (user_id, author_id, project_id, merge_request_id, action, created_at, updated_at)
        values (${user.id}, 1, ${world.project.id}, ${id}, 'review_requested', now(), now())`;
      await sql`insert into merge_request_reviewers (merge_request_id, user_id, created_at)
        values (${id}, ${user.id}, now())`;
    }
    await world.configure();
    expect(await readersWho(world, async (user) => (await todosOf(user)).length === 1)).toEqual(names);
    const counts = await readersWho(world, async (user) => {
      const { todos, review_requested_merge_requests } = await countsOf(user);
      expect(todos).toBe(review_requested_merge_requests);
      return todos === 1;
    });
    expect(counts).toEqual(names);
    const statuses = new Set<number>();
    const marked = await readersWho(world, async (user) => {
      const { status } = await ashlar.as(user.token)(path);
      if (status !== 304) statuses.add(status);
      return status === 304;
    });
    expect(marked).toEqual(names);
    expect([...statuses].every((status) => status === 403 || status === 404)).toBe(true);
  },
);

test('an item of an internal note is for those who read such notes', async () => {
  const { sql } = ashlar.app.services.database;
  const project = await makeReviewedProject(ashlar, { visibility: 'public' });
  const made = await makeMergeRequest(ashlar, project.id, 'topic');
  const [stranger, planner] = [await makeUser(ashlar), await makeUser(ashlar)];
  await addMember(ashlar, `projects/${project.id}`, planner, 15);
  const [note] = await sql<{ id: number }[]>`
    insert into notes (project_id, merge_request_id, author_id, body, discussion_id, internal, created_at, updated_at)
    values (${project.id}, ${made.id}, 1, 'between us', 'd', true, now(), now()) returning id`;
  for (const user of [stranger, planner])
    await sql`insert into todos
      (user_id, author_id, project_id, merge_request_id, note_id, action, created_at, updated_at)
      values (${user.id}, 1, ${project.id}, ${made.id}, ${note?.id ?? 0}, 'mentioned', now(), now())`;
  expect(await todosOf(stranger)).toEqual([]);
  expect(await todosOf(planner)).toMatchObject([
    { body: 'between us', target_url: `${made.web_url}#note_${note?.id}` },
  ]);
});
