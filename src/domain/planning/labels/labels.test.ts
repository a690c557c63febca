/** Labels of projects and groups over HTTP. */
import { beforeAll, describe, expect, test, vi } from 'vitest';
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
import { makeIssue, makeLabel } from '../../../../test/support/planning.ts';

const ashlar = useApp();
let group: MadeGroup;
let project: MadeProject;
let planner: MadeUser;
let guest: MadeUser;
let labels: string;

beforeAll(async () => {
  group = await makeGroup(ashlar);
  project = await makeProject(ashlar, { namespace_id: group.id });
  ({ planner, guest } = await makeMembers(ashlar, `projects/${project.id}`, 'planner', 'guest'));
  labels = `/projects/${project.id}/labels`;
});

const names = (body: { name: string }[]) => body.map(({ name }) => name);
const write = (request: string, body: object = {}, user = planner) =>
  ashlar.as(user.token)(request, { body });

describe('a label of a project', () => {
  test('is made with all its fields, and shown by id and by name', async () => {
    const body = { name: ' Bug: a/b ', color: 'red', description: '<b>', priority: 3, archived: true };
    const made = bodyOf(await write(`POST ${labels}`, body), 201);
    expect(made).toEqual({
      id: expect.any(Number),
      name: 'Bug: a/b',
      description: '<b>',
      description_html: '&lt;b&gt;',
      text_color: '#FFFFFF',
      color: '#FF0000',
      archived: true,
      subscribed: false,
      priority: 3,
      is_project_label: true,
    });
    for (const name of [made.id, encodeURIComponent(made.name)])
      expect(bodyOf(await ashlar.as(guest.token)(`GET ${labels}/${name}`), 200)).toEqual(made);
  });

  test.each([
    [{ name: '', color: '#fff' }, 400, { title: ["can't be blank"] }],
    [{ name: 'a,b', color: '#fff' }, 400, { title: ['is invalid'] }],
    [{ name: 'x'.repeat(256), color: '#fff' }, 400, { title: ['is too long (maximum is 255 characters)'] }],
    [{ name: 'new', color: 'reddish' }, 400, { color: ['must be a valid color code'] }],
    [{ name: 'new' }, 400, '400 Bad request - "color" not given'],
  ])('refuses %j', async (body, status, message) => {
    const refused = await write(`POST ${labels}`, body);
    expect(refused.status).toBe(status);
    expect(refused.body.message).toEqual(message);
  });

  test('has a name of its own in the project and the groups around it', async () => {
    await makeLabel(ashlar, `projects/${project.id}`, { name: 'mine' });
    await makeLabel(ashlar, `groups/${group.id}`, { name: 'ours' });
    for (const name of ['mine', 'ours']) {
      const refused = await write(`POST ${labels}`, { name, color: '#fff' });
      expect([refused.status, refused.body.message]).toEqual([409, 'Label already exists']);
    }
    const other = await makeLabel(ashlar, `projects/${project.id}`);
    const rename = async (new_name: string) => (await write(`PUT ${labels}/${other.id}`, { new_name })).body;
    expect((await rename('mine')).message).toEqual({ title: ['has already been taken'] });
    expect((await rename('ours')).message.title[0]).toContain('already exists at group level');
  });

  test('is made once by many at once', async () => {
    const body = { name: 'raced', color: '#fff' };
    const responses = await Promise.all(Array.from({ length: 6 }, () => write(`POST ${labels}`, body)));
    expect(responses.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409, 409]);
  });

  test('is changed by name, by id beside the path, and only in what is sent', async () => {
    const { id, name } = await makeLabel(ashlar, `projects/${project.id}`, { priority: 1, description: 'd' });
    const changed = bodyOf(await write(`PUT ${labels}/${name}`, { new_name: 'renamed', color: '#abc' }), 200);
    expect(changed).toMatchObject({ id, name: 'renamed', color: '#aabbcc', description: 'd', priority: 1 });
    const again = bodyOf(
      await write(`PUT ${labels}`, { label_id: id, priority: null, description: '' }),
      200,
    );
    expect(again).toMatchObject({ name: 'renamed', description: '', priority: null });
    expect((await write(`PUT ${labels}/renamed`)).body.error).toBe(
      'new_name, color, description, archived, priority are missing, at least one parameter must be provided',
    );
    expect((await write(`PUT ${labels}`, { color: '#fff' })).body.error).toContain('exactly one parameter');
    expect((await write(`DELETE ${labels}`, { label_id: id, name: 'renamed' })).body.error).toContain(
      'exclusive',
    );
    expect((await write(`PUT ${labels}/nowhere`, { color: '#fff' })).body.message).toBe(
      '404 Label Not Found',
    );
  });

  test('is deleted by name or id, and not twice', async () => {
    const first = await makeLabel(ashlar, `projects/${project.id}`);
    const second = await makeLabel(ashlar, `projects/${project.id}`);
    expect((await write(`DELETE ${labels}/${first.name}`)).status).toBe(204);
    expect((await write(`DELETE ${labels}/${first.name}`)).status).toBe(404);
    expect((await write(`DELETE ${labels}`, { label_id: second.id })).status).toBe(204);
    const since = { 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' };
    const third = await makeLabel(ashlar, `projects/${project.id}`);
    const refused = await ashlar.as(planner.token)(`DELETE ${labels}/${third.id}`, { headers: since });
    expect(refused.status).toBe(412);
  });

  test('is for Planners to change, and for nobody elsewhere', async () => {
    const { id } = await makeLabel(ashlar, `projects/${project.id}`);
    const own = await makeProject(ashlar, { namespace_id: group.id });
    const body = { new_name: 'stolen' };
    expect((await write(`PUT ${labels}/${id}`, body, guest)).status).toBe(403);
    expect((await write(`POST ${labels}`, { name: 'x', color: '#fff' }, guest)).status).toBe(403);
    expect((await ashlar.call(`PUT ${labels}/${id}`, { body })).status).toBe(401);
    expect((await ashlar.root(`PUT /projects/${own.id}/labels/${id}`, { body })).status).toBe(404);
    expect((await ashlar.root(`DELETE /groups/${group.id}/labels/${id}`)).status).toBe(404);
    // The group's own are read below it, and changed in the group.
    const ours = await makeLabel(ashlar, `groups/${group.id}`);
    expect((await write(`GET ${labels}/${ours.id}`.replace('GET', 'PUT'), body)).status).toBe(404);
    expect((await ashlar.as(planner.token)(`GET ${labels}/${ours.id}`)).status).toBe(200);
  });
});

test('are not for who has Minimal Access', async () => {
  const minimal = await makeUser(ashlar);
  await addMember(ashlar, `projects/${project.id}`, minimal, 10);
  const status = async () => (await ashlar.as(minimal.token)(`GET ${labels}`)).status;
  expect(await status()).toBe(200);
  await ashlar.app.services.database.sql`update members set access_level = 5 where user_id = ${minimal.id}`;
  expect(await status()).toBe(403);
});

describe('lists', () => {
  let inner: MadeGroup;
  let there: MadeProject;
  let top: MadeGroup;
  let member: MadeUser;

  beforeAll(async () => {
    top = await makeGroup(ashlar, { visibility: 'public' });
    inner = await makeGroup(ashlar, { parent_id: top.id, visibility: 'private' });
    there = await makeProject(ashlar, { namespace_id: inner.id, visibility: 'private' });
    member = await makeUser(ashlar);
    await addMember(ashlar, `groups/${inner.id}`, member, 10);
    await makeLabel(ashlar, `groups/${top.id}`, { name: 'top', description: 'of_all' });
    await makeLabel(ashlar, `groups/${inner.id}`, { name: 'inner', archived: true });
    await makeLabel(ashlar, `projects/${there.id}`, { name: 'there' });
  });

  const list = async (path: string, query: string, user?: MadeUser) =>
    names(bodyOf(await (user ? ashlar.as(user.token) : ashlar.call)(`GET ${path}/labels`, { query }), 200));

  test('start from the project or group and go outwards or inwards', async () => {
    const paths = { top: `/groups/${top.id}`, inner: `/groups/${inner.id}`, there: `/projects/${there.id}` };
    expect(await list(paths.there, '', member)).toEqual(['inner', 'there', 'top']);
    expect(await list(paths.there, 'include_ancestor_groups=false', member)).toEqual(['there']);
    expect(await list(paths.inner, '', member)).toEqual(['inner', 'top']);
    expect(await list(paths.top, '', member)).toEqual(['top']);
    expect(await list(paths.top, 'include_descendant_groups=true', member)).toEqual(['inner', 'top']);
    const all = 'include_descendant_groups=true&only_group_labels=false';
    expect(await list(paths.top, all, member)).toEqual(['inner', 'there', 'top']);
    expect(await list(paths.top, all)).toEqual(['top']);
    expect(await list(paths.top, 'only_group_labels=false', await makeUser(ashlar))).toEqual(['top']);
    const direct = await makeProject(ashlar, { namespace_id: top.id });
    await makeLabel(ashlar, `projects/${direct.id}`, { name: 'direct' });
    expect(await list(paths.top, 'only_group_labels=false')).toEqual(['top']);
    expect(await list(paths.top, 'only_group_labels=false', member)).toEqual(['top']);
    await addMember(ashlar, `projects/${direct.id}`, member, 10);
    expect(await list(paths.top, 'only_group_labels=false', member)).toEqual(['direct', 'top']);
    for (const attributes of [{ auditor: true }, { admin: true }])
      expect(await list(paths.top, all, await makeUser(ashlar, attributes))).toEqual([
        'direct',
        'inner',
        'there',
        'top',
      ]);
    await ashlar.root(`DELETE /projects/${direct.id}`);
    expect(await list(paths.inner, 'only_group_labels=false', member)).toEqual(['inner', 'there', 'top']);
  });

  test('are searched and narrowed', async () => {
    const path = `/projects/${there.id}`;
    expect(await list(path, 'search=NNE', member)).toEqual(['inner']);
    expect(await list(path, 'search=of_a', member)).toEqual(['top']);
    expect(await list(path, 'search=%25', member)).toEqual([]);
    expect(await list(path, 'archived=true', member)).toEqual(['inner']);
    expect(await list(path, 'archived=false', member)).toEqual(['there', 'top']);
  });

  test('are of who sees the place', async () => {
    const stranger = await makeUser(ashlar);
    expect((await ashlar.as(stranger.token)(`GET /projects/${there.id}/labels`)).status).toBe(404);
    expect((await ashlar.as(stranger.token)(`GET /groups/${inner.id}/labels`)).status).toBe(404);
    expect((await ashlar.call(`GET /groups/${top.id}/labels`)).status).toBe(200);
  });
});

test('counts are of the issues that the reader sees', async () => {
  const { id, name } = await makeLabel(ashlar, `projects/${project.id}`);
  await makeIssue(ashlar, project, { labels: name });
  await makeIssue(ashlar, project, { labels: name, confidential: true });
  const closed = await makeIssue(ashlar, project, { labels: name });
  const body = { state_event: 'close' };
  bodyOf(await ashlar.root(`PUT /projects/${project.id}/issues/${closed.iid}`, { body }), 200);
  const counts = async (user: MadeUser) => {
    const query = `with_counts=true&search=${name}`;
    const found = bodyOf(await ashlar.as(user.token)(`GET ${labels}`, { query }), 200);
    const label = found.find((each: { id: number }) => each.id === id);
    return [label.open_issues_count, label.closed_issues_count, label.open_merge_requests_count];
  };
  expect(await counts(planner)).toEqual([2, 1, 0]);
  expect(await counts(guest)).toEqual([1, 1, 0]);
});

describe('subscriptions', () => {
  test('are the caller’s own, said once', async () => {
    const { id, name } = await makeLabel(ashlar, `projects/${project.id}`);
    const say = (verb: string, label: string | number = id) =>
      write(`POST ${labels}/${label}/${verb}`, {}, guest);
    expect((await say('unsubscribe')).status).toBe(304);
    expect(bodyOf(await say('subscribe', name), 201)).toMatchObject({ id, subscribed: true });
    expect((await say('subscribe')).status).toBe(304);
    expect((await ashlar.as(planner.token)(`GET ${labels}/${id}`)).body.subscribed).toBe(false);
    expect(bodyOf(await say('unsubscribe'), 201).subscribed).toBe(false);
    expect((await ashlar.call(`POST ${labels}/${id}/subscribe`)).status).toBe(401);
    expect((await say('subscribe', 'nowhere')).body.message).toBe('404 Label Not Found');
  });

  test('to a group’s label are of one project, or of the group', async () => {
    const { id } = await makeLabel(ashlar, `groups/${group.id}`);
    bodyOf(await write(`POST ${labels}/${id}/subscribe`, {}, planner), 201);
    expect((await ashlar.as(planner.token)(`GET ${labels}/${id}`)).body.subscribed).toBe(true);
    const ofGroup = bodyOf(await ashlar.root(`POST /groups/${group.id}/labels/${id}/subscribe`), 201);
    expect(ofGroup).toMatchObject({ id, subscribed: true });
    expect(ofGroup).not.toHaveProperty('priority');
    expect((await ashlar.root(`GET ${labels}/${id}`)).body.subscribed).toBe(false);
  });
});

describe('promotion', () => {
  test('merges what has the name in the group’s projects', async () => {
    const other = await makeProject(ashlar, { namespace_id: group.id });
    const name = 'promoted';
    const made = await makeLabel(ashlar, `projects/${project.id}`, { name, color: '#123456', priority: 1 });
    await makeLabel(ashlar, `projects/${other.id}`, { name });
    const [first, second] = [
      await makeIssue(ashlar, project, { labels: name }),
      await makeIssue(ashlar, other, { labels: name }),
    ];
    bodyOf(await ashlar.root(`POST ${labels}/${name}/subscribe`), 201);
    // Managing the project is not managing its group.
    expect((await write(`PUT ${labels}/${name}/promote`)).status).toBe(403);
    const promoted = bodyOf(await ashlar.root(`PUT ${labels}/${name}/promote`), 200);
    expect(promoted).toMatchObject({ name, color: '#123456', subscribed: false });
    expect(promoted.id).not.toBe(made.id);
    for (const { project_id, iid } of [first, second])
      expect((await ashlar.root(`GET /projects/${project_id}/issues/${iid}`)).body.labels).toEqual([name]);
    const shown = (await ashlar.root(`GET ${labels}/${name}`)).body;
    expect(shown).toMatchObject({ id: promoted.id, priority: 1, is_project_label: false, subscribed: true });
    const events = await ashlar.root(`GET /projects/${other.id}/issues/${second.iid}/resource_label_events`);
    expect(events.body[0].label.id).toBe(promoted.id);
    expect((await ashlar.root(`PUT ${labels}/${name}/promote`)).status).toBe(404);
  });

  test('has a form with the name beside the path, and needs a group', async () => {
    const { name } = await makeLabel(ashlar, `projects/${project.id}`);
    expect(bodyOf(await ashlar.root(`PUT ${labels}/promote`, { body: { name } }), 200).name).toBe(name);
    const own = await makeProject(ashlar);
    const label = await makeLabel(ashlar, `projects/${own.id}`);
    const refused = await ashlar.root(`PUT /projects/${own.id}/labels/${label.id}/promote`);
    expect([refused.status, refused.body.message]).toEqual([
      400,
      'Failed to promote project label to group label',
    ]);
  });
});

test('whoever names a label that goes at that moment is told that it is not there', async () => {
  const label = await makeLabel(ashlar, `projects/${project.id}`);
  const milestone = await write(`POST /projects/${project.id}/milestones`, { title: 'going' });
  const { sql } = ashlar.app.services.database;
  const { answers: responses } = await sql.begin(async (going) => {
    await going`delete from labels where id = ${label.id}`;
    await going`delete from milestones where id = ${milestone.body.id}`;
    const calls = [
      write(`POST ${labels}/${label.id}/subscribe`),
      write(`PUT ${labels}/${label.id}`, { priority: 1 }),
      write(`POST /projects/${project.id}/issues`, { title: 'Late', labels: label.name }),
      write(`POST /projects/${project.id}/issues`, { title: 'Late', milestone_id: milestone.body.id }),
    ];
    await vi.waitFor(async () => {
      const waiting = await sql`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      expect(waiting.length).toBe(calls.length);
    }, 10_000);
    return { answers: Promise.all(calls) };
  });
  expect((await responses).map(({ status }) => status)).toEqual([404, 404, 404, 404]);
});
