/** Milestones of projects and groups over HTTP. */
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeGroup,
  type MadeProject,
  type MadeUser,
  makeGroup,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';
import { makeIssue, makeMilestone } from '../../../../test/support/planning.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'premium' } });
let group: MadeGroup;
let project: MadeProject;
let planner: MadeUser;
let guest: MadeUser;
let milestones: string;

beforeAll(async () => {
  group = await makeGroup(ashlar);
  project = await makeProject(ashlar, { namespace_id: group.id });
  ({ planner, guest } = await makeMembers(ashlar, `projects/${project.id}`, 'planner', 'guest'));
  milestones = `/projects/${project.id}/milestones`;
});

const write = (request: string, body: object = {}, user = planner) =>
  ashlar.as(user.token)(request, { body });
const titles = (body: { title: string }[]) => body.map(({ title }) => title);
const taken = { title: ['already being used for another group or project milestone.'] };

describe('a milestone', () => {
  test('of a project is made with all its fields', async () => {
    const body = { title: ' v1 ', description: 'd', start_date: '2026-01-01', due_date: '2026-02-01' };
    const made = bodyOf(await write(`POST ${milestones}`, body), 201);
    expect(made).toEqual({
      id: expect.any(Number),
      iid: 1,
      project_id: project.id,
      title: 'v1',
      description: 'd',
      state: 'active',
      created_at: expect.any(String),
      updated_at: expect.any(String),
      due_date: '2026-02-01',
      start_date: '2026-01-01',
      expired: true,
      web_url: expect.stringMatching(`/${project.path_with_namespace}/-/milestones/1$`),
    });
    expect(bodyOf(await ashlar.as(guest.token)(`GET ${milestones}/${made.id}`), 200)).toEqual(made);
  });

  test('of a group has its own numbers and address', async () => {
    const made = await makeMilestone(ashlar, `groups/${group.id}`);
    expect(made).toMatchObject({ iid: 1, group_id: group.id, expired: false, due_date: null });
    expect(made).not.toHaveProperty('project_id');
    expect(made.web_url).toMatch(new RegExp(`/groups/${group.full_path}/-/milestones/1$`));
    expect((await ashlar.root(`GET ${milestones}/${made.id}`)).body.message).toBe('404 Not found');
  });

  test('has a title of its own in its project and group', async () => {
    const other = await makeProject(ashlar, { namespace_id: group.id });
    await makeMilestone(ashlar, `projects/${project.id}`, { title: 'mine' });
    await makeMilestone(ashlar, `groups/${group.id}`, { title: 'ours' });
    for (const title of ['mine', 'ours'])
      expect((await write(`POST ${milestones}`, { title })).body.message).toEqual(taken);
    const inGroup = await ashlar.root(`POST /groups/${group.id}/milestones`, { body: { title: 'mine' } });
    expect([inGroup.status, inGroup.body.message]).toEqual([400, taken]);
    await makeMilestone(ashlar, `projects/${other.id}`, { title: 'mine' });
    const { id } = await makeMilestone(ashlar, `projects/${project.id}`);
    expect((await write(`PUT ${milestones}/${id}`, { title: 'mine' })).body.message).toEqual(taken);
    const blank = await write(`PUT ${milestones}/${id}`, { title: '' });
    expect(blank.body.message).toEqual({ title: ["can't be blank"] });
  });

  test('is made by many at once without a gap, each title once', async () => {
    const place = await makeProject(ashlar, { namespace_id: group.id });
    const numbers = Array.from({ length: 8 }, (_, index) => index + 1);
    const made = await Promise.all(
      numbers.map((n) =>
        ashlar.root(`POST /projects/${place.id}/milestones`, { body: { title: `race ${n % 4}` } }),
      ),
    );
    const done = made.filter(({ status }) => status === 201).map(({ body }) => body.iid);
    expect(done.toSorted()).toEqual([1, 2, 3, 4]);
  });

  test('is closed, opened again and dated anew', async () => {
    const { id } = await makeMilestone(ashlar, `projects/${project.id}`, { due_date: '2026-01-01' });
    const change = (body: object) => write(`PUT ${milestones}/${id}`, body);
    expect(bodyOf(await change({ state_event: 'close' }), 200).state).toBe('closed');
    expect(bodyOf(await change({ state_event: 'close' }), 200).state).toBe('closed');
    expect(bodyOf(await change({ state_event: 'activate', due_date: '' }), 200)).toMatchObject({
      state: 'active',
      due_date: null,
    });
    expect((await change({ state_event: 'open' })).status).toBe(400);
    expect((await change({ due_date: 'soon' })).body.error).toBe('due_date is invalid');
    bodyOf(await change({ due_date: '2026-01-01' }), 200);
    const wrong = await change({ start_date: '2026-01-02' });
    expect(wrong.body.message).toEqual({ due_date: ['must be greater than start date'] });
    const { sql } = ashlar.app.services.database;
    const told = await sql`select action from activity_events
      where target_type = 'Milestone' and target_id = ${id} and project_id = ${project.id} order by id`;
    expect(told.map(({ action }) => action)).toEqual(['created', 'closed', 'reopened']);
    const audited = await sql`select event_name from audit_events
      where details ->> 'target_type' = 'Milestone' and details ->> 'target_id' = ${String(id)} order by id`;
    expect(audited.map(({ event_name }) => event_name).slice(0, 2)).toEqual([
      'milestone_created',
      'milestone_closed',
    ]);
  });

  test('is deleted, and leaves its issues', async () => {
    const { id } = await makeMilestone(ashlar, `projects/${project.id}`);
    const issue = await makeIssue(ashlar, project, { milestone_id: id });
    expect(issue.milestone.id).toBe(id);
    const since = { 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' };
    const refused = await ashlar.as(planner.token)(`DELETE ${milestones}/${id}`, { headers: since });
    expect(refused.status).toBe(412);
    expect((await write(`DELETE ${milestones}/${id}`)).status).toBe(204);
    expect((await write(`DELETE ${milestones}/${id}`)).status).toBe(404);
    expect((await ashlar.root(`GET /projects/${project.id}/issues/${issue.iid}`)).body.milestone).toBeNull();
  });

  test('is for Planners to change, and for nobody elsewhere', async () => {
    const { id } = await makeMilestone(ashlar, `projects/${project.id}`);
    const own = await makeProject(ashlar);
    const body = { title: 'stolen' };
    expect((await write(`PUT ${milestones}/${id}`, body, guest)).status).toBe(403);
    expect((await write(`POST ${milestones}`, body, guest)).status).toBe(403);
    expect((await ashlar.call(`DELETE ${milestones}/${id}`)).status).toBe(401);
    expect(
      (await write(`GET ${milestones}/${id}`.replace('GET', 'PUT'), {}, await makeUser(ashlar))).status,
    ).toBe(404);
    for (const place of [`projects/${own.id}`, `groups/${group.id}`]) {
      expect((await ashlar.root(`PUT /${place}/milestones/${id}`, { body })).status).toBe(404);
      expect((await ashlar.root(`GET /${place}/milestones/${id}/issues`)).status).toBe(404);
    }
  });
});

test('are not for who has Minimal Access', async () => {
  const minimal = await makeUser(ashlar);
  await addMember(ashlar, `projects/${project.id}`, minimal, 10);
  const status = async () => (await ashlar.as(minimal.token)(`GET ${milestones}`)).status;
  expect(await status()).toBe(200);
  await ashlar.app.services.database.sql`update members set access_level = 5 where user_id = ${minimal.id}`;
  expect(await status()).toBe(403);
});

describe('lists', () => {
  let top: MadeGroup;
  let inner: MadeGroup;
  let there: MadeProject;
  let member: MadeUser;

  beforeAll(async () => {
    top = await makeGroup(ashlar, { visibility: 'public' });
    inner = await makeGroup(ashlar, { parent_id: top.id });
    there = await makeProject(ashlar, { namespace_id: inner.id });
    member = await makeUser(ashlar);
    await addMember(ashlar, `groups/${inner.id}`, member, 10);
    await makeMilestone(ashlar, `groups/${top.id}`, { title: 'top', due_date: '2026-03-01' });
    await makeMilestone(ashlar, `groups/${inner.id}`, { title: 'inner', description: 'found 100%' });
    await makeMilestone(ashlar, `projects/${there.id}`, { title: 'there', due_date: '2026-02-01' });
    const shut = await makeMilestone(ashlar, `projects/${there.id}`, { title: 'shut' });
    const body = { state_event: 'close' };
    bodyOf(await ashlar.root(`PUT /projects/${there.id}/milestones/${shut.id}`, { body }), 200);
  });

  const list = async (path: string, query: string, user?: MadeUser) =>
    titles(
      bodyOf(await (user ? ashlar.as(user.token) : ashlar.call)(`GET ${path}/milestones`, { query }), 200),
    );

  test('start from the project or group, the next due first', async () => {
    const path = `/projects/${there.id}`;
    expect(await list(path, '', member)).toEqual(['there', 'shut']);
    expect(await list(path, 'include_ancestors=true', member)).toEqual(['there', 'top', 'shut', 'inner']);
    expect(await list(path, 'include_parent_milestones=true&state=active', member)).toEqual([
      'there',
      'top',
      'inner',
    ]);
    expect(await list(`/groups/${top.id}`, 'include_descendants=true', member)).toEqual(['top', 'inner']);
    expect(await list(`/groups/${top.id}`, 'include_descendants=true')).toEqual(['top']);
    expect(await list(`/groups/${inner.id}`, 'include_ancestors=true', member)).toEqual(['top', 'inner']);
  });

  test('of one day are the newest first, whatever their titles', async () => {
    const { id } = await makeProject(ashlar);
    for (const title of ['b', 'a', 'c'])
      await makeMilestone(ashlar, `projects/${id}`, { title, due_date: '2026-03-01' });
    for (const title of ['y', 'z', 'x']) await makeMilestone(ashlar, `projects/${id}`, { title });
    const page = async (query: string) =>
      titles(bodyOf(await ashlar.root(`GET /projects/${id}/milestones`, { query }), 200));
    expect([...(await page('per_page=4')), ...(await page('per_page=4&page=2'))]).toEqual([
      'c',
      'a',
      'b',
      'x',
      'z',
      'y',
    ]);
  });

  test('of ancestors have the addresses of where they are', async () => {
    const query = 'include_ancestors=true&title=top';
    const [found] = (await ashlar.as(member.token)(`GET /projects/${there.id}/milestones`, { query })).body;
    expect(found).toMatchObject({ group_id: top.id });
    expect(found.web_url).toMatch(new RegExp(`/groups/${top.full_path}/-/milestones/1$`));
  });

  test('are narrowed', async () => {
    const path = `/projects/${there.id}`;
    expect(await list(path, 'state=closed', member)).toEqual(['shut']);
    expect(await list(path, 'iids[]=1&iids[]=7', member)).toEqual(['there']);
    expect(await list(path, 'title=shut', member)).toEqual(['shut']);
    expect(await list(path, 'search=HER', member)).toEqual(['there']);
    expect(await list(path, 'include_ancestors=true&search=100%25', member)).toEqual(['inner']);
    expect(await list(path, 'updated_after=2999-01-01T00:00:00Z', member)).toEqual([]);
    expect(await list(path, 'updated_before=2999-01-01T00:00:00Z', member)).toEqual(['there', 'shut']);
  });
});

describe('promotion', () => {
  test('merges what has the title in the group’s projects', async () => {
    const other = await makeProject(ashlar, { namespace_id: group.id });
    const [mine, theirs] = [
      await makeMilestone(ashlar, `projects/${project.id}`, { title: 'promoted', due_date: '2026-05-05' }),
      await makeMilestone(ashlar, `projects/${other.id}`, { title: 'promoted' }),
    ];
    const issue = await makeIssue(ashlar, other, { milestone_id: theirs.id });
    expect((await write(`POST ${milestones}/${mine.id}/promote`)).status).toBe(403);
    const promoted = bodyOf(await ashlar.root(`POST ${milestones}/${mine.id}/promote`), 201);
    expect(promoted).toMatchObject({ group_id: group.id, title: 'promoted', due_date: '2026-05-05' });
    const shown = (await ashlar.root(`GET /projects/${other.id}/issues/${issue.iid}`)).body;
    expect(shown.milestone.id).toBe(promoted.id);
    expect((await ashlar.root(`GET ${milestones}/${mine.id}`)).status).toBe(404);
    expect((await ashlar.root(`GET /projects/${other.id}/milestones/${theirs.id}`)).status).toBe(404);
  });

  test('is no way to change a project that is archived', async () => {
    const archived = await makeProject(ashlar, { namespace_id: group.id });
    const { id } = await makeMilestone(ashlar, `projects/${archived.id}`);
    bodyOf(await ashlar.root(`POST /projects/${archived.id}/archive`), 201);
    expect((await ashlar.root(`POST /projects/${archived.id}/milestones/${id}/promote`)).status).toBe(403);
    expect((await ashlar.root(`GET /projects/${archived.id}/milestones/${id}`)).status).toBe(200);
  });

  test('needs a group', async () => {
    const own = await makeProject(ashlar);
    const { id } = await makeMilestone(ashlar, `projects/${own.id}`);
    const refused = await ashlar.root(`POST /projects/${own.id}/milestones/${id}/promote`);
    expect([refused.status, refused.body.message]).toEqual([400, 'Project does not belong to a group.']);
  });
});

test('a title that the project gets at the same moment from elsewhere is refused', async () => {
  const { sql } = ashlar.app.services.database;
  const held = await sql.reserve();
  try {
    await held`begin`;
    // As another process does that knew the project in another group.
    await held`insert into milestones (project_id, iid, title, created_at, updated_at)
      values (${project.id}, 1000, 'at once', now(), now())`;
    const pending = write(`POST ${milestones}`, { title: 'at once' });
    const waiting = async () =>
      (
        await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      ).length;
    await expect.poll(waiting, { timeout: 20_000 }).toBe(1);
    await held`commit`;
    const { status, body } = await pending;
    expect([status, body]).toEqual([400, { message: { title: ['has already been taken'] } }]);
  } finally {
    await held`rollback`;
    held.release();
  }
});
