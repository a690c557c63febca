/** Group mentions, `@all` and paths of groups, in notes and descriptions. */
import { beforeAll, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { makeEpic } from '../../../../test/support/epics.ts';
import {
  addMember,
  bodyOf,
  type MadeGroup,
  type MadeProject,
  type MadeUser,
  makeGroup,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';

const ashlar = useApp();
const GUEST = 10;
const PLANNER = 15;

let group: MadeGroup;
let team: MadeGroup;
let project: MadeProject;
let author: MadeUser;
let guest: MadeUser;
let inherited: MadeUser;
let teammate: MadeUser;
let outsider: MadeUser;

beforeAll(async () => {
  group = await makeGroup(ashlar, { visibility: 'public' });
  team = await makeGroup(ashlar, { parent_id: group.id, visibility: 'private' });
  project = await makeProject(ashlar, { namespace_id: group.id, visibility: 'public' });
  [author, guest, inherited, teammate, outsider] = [
    await makeUser(ashlar),
    await makeUser(ashlar),
    await makeUser(ashlar),
    await makeUser(ashlar),
    await makeUser(ashlar),
  ];
  await addMember(ashlar, `projects/${project.id}`, author, PLANNER);
  await addMember(ashlar, `projects/${project.id}`, guest, GUEST);
  await addMember(ashlar, `groups/${group.id}`, inherited, PLANNER);
  await addMember(ashlar, `groups/${team.id}`, author, GUEST);
  await addMember(ashlar, `groups/${team.id}`, teammate, GUEST);
});

async function issueOf(attributes: Record<string, unknown> = {}): Promise<{ id: number; iid: number }> {
  const body = { title: 'Something', ...attributes };
  return bodyOf(await ashlar.as(author.token)(`POST /projects/${project.id}/issues`, { body }), 201);
}

const say = (iid: number, user: MadeUser, body: string) =>
  ashlar.as(user.token)(`POST /projects/${project.id}/issues/${iid}/notes`, { body: { body } });

/** The to-dos for the noteable by user, except root's. */
async function reminded(id: number, kind: 'issue' | 'epic' = 'issue'): Promise<Record<number, string>> {
  const { sql } = ashlar.app.services.database;
  const rows = await sql<{ user_id: number; action: string }[]>`
    select user_id, action from todos where ${sql(`${kind}_id`)} = ${id} and user_id <> 1 and state = 'pending'`;
  return Object.fromEntries(rows.map(({ user_id, action }) => [user_id, action]));
}

test('@all calls all members of the project, once', async () => {
  const issue = await issueOf();
  bodyOf(await say(issue.iid, author, 'Hello @all and @all'), 201);
  const called = { [guest.id]: 'mentioned', [inherited.id]: 'mentioned' };
  expect(await reminded(issue.id)).toEqual(called);
  bodyOf(await say(issue.iid, author, '@all: again'), 201);
  expect(await reminded(issue.id)).toEqual({
    [guest.id]: 'directly_addressed',
    [inherited.id]: 'directly_addressed',
  });
});

test('only members call all, and only those hear who may read it', async () => {
  const issue = await issueOf();
  bodyOf(await say(issue.iid, outsider, 'Hello @all'), 201);
  expect(await reminded(issue.id)).toEqual({});
  const secret = await issueOf({ confidential: true, description: 'Hello @all' });
  expect(await reminded(secret.id)).toEqual({ [inherited.id]: 'mentioned' });
});

test('the path of a group calls its own members, where the speaker sees it', async () => {
  const issue = await issueOf({ description: `Hello @${team.full_path}, \`@all\`` });
  expect(await reminded(issue.id)).toEqual({ [teammate.id]: 'mentioned' });
  const other = await issueOf();
  bodyOf(await say(other.iid, outsider, `Hello @${team.full_path}`), 201);
  expect(await reminded(other.id)).toEqual({});
  bodyOf(await say(other.iid, outsider, `Hello @${group.full_path}`), 201);
  expect(await reminded(other.id)).toEqual({ [inherited.id]: 'mentioned' });
});

test('a group that may not be called is not', async () => {
  const quiet = await makeGroup(ashlar, { visibility: 'public', mentions_disabled: true });
  await addMember(ashlar, `groups/${quiet.id}`, teammate, GUEST);
  const issue = await issueOf({ description: `@${quiet.full_path}` });
  expect(await reminded(issue.id)).toEqual({});
});

test('who was called before is not called again by an edit', async () => {
  const issue = await issueOf();
  const note = bodyOf(await say(issue.iid, author, `@${guest.username}`), 201);
  const path = `/projects/${project.id}/issues/${issue.iid}/notes/${note.id}`;
  const body = { body: `@${guest.username} and @all` };
  bodyOf(await ashlar.as(author.token)(`PUT ${path}`, { body }), 200);
  expect(await reminded(issue.id)).toEqual({
    [guest.id]: 'directly_addressed',
    [inherited.id]: 'directly_addressed',
  });
});

test('on an epic @all calls the members of its group', async () => {
  const epic = await makeEpic(ashlar, group, { description: 'Hello @all' });
  expect(await reminded(epic.id, 'epic')).toEqual({ [inherited.id]: 'mentioned' });
});

test('more than a hundred are not called', async () => {
  const mention = await makeGroup(ashlar, { visibility: 'public' });
  const { sql } = ashlar.app.services.database;
  const fill = (from: number, to: number) => sql`
    with made as (insert into users (username, name, email, state, projects_limit, can_create_group, created_at, updated_at)
      select 'many-' || n, 'Many', 'many-' || n || '@example.com', 'active', 0, false, now(), now()
      from generate_series(${from}::integer, ${to}) n returning id)
    insert into members (user_id, namespace_id, access_level, created_at, updated_at)
      select id, ${mention.id}, ${GUEST}, now(), now() from made`;
  // Root is a member too.
  await fill(1, 99);
  const some = await issueOf({ description: `@${mention.full_path} @${team.full_path}` });
  expect(Object.keys(await reminded(some.id))).toHaveLength(99);
  await fill(100, 100);
  const all = await issueOf({ description: `@${mention.full_path} @${team.full_path}` });
  expect(await reminded(all.id)).toEqual({ [teammate.id]: 'directly_addressed' });
});
