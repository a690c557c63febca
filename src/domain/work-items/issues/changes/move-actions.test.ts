/** Issues that move: by quick actions, with the meaning of their texts there, and their relations. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { type Called, useApp } from '../../../../../test/support/app.ts';
import { makeEpic } from '../../../../../test/support/epics.ts';
import {
  addMember,
  bodyOf,
  type MadeGroup,
  type MadeProject,
  type MadeUser,
  makeGroup,
  makeProject,
  makeUser,
} from '../../../../../test/support/factories.ts';

const app = useApp();
const GUEST = 10;
const PLANNER = 15;

let group: MadeGroup;
let elsewhere: MadeGroup;
let project: MadeProject;
let other: MadeProject;
let hidden: MadeProject;
let planner: MadeUser;
let guest: MadeUser;

beforeAll(async () => {
  [group, elsewhere] = [
    await makeGroup(app, { visibility: 'public' }),
    await makeGroup(app, { visibility: 'public' }),
  ];
  project = await makeProject(app, { namespace_id: group.id, visibility: 'public' });
  other = await makeProject(app, { namespace_id: elsewhere.id, visibility: 'public' });
  hidden = await makeProject(app);
  [planner, guest] = [await makeUser(app), await makeUser(app)];
  for (const { id } of [project, other]) {
    await addMember(app, `projects/${id}`, planner, PLANNER);
    await addMember(app, `projects/${id}`, guest, GUEST);
  }
});

const as = (user: MadeUser) => app.as(user.token);
const path = (of: MadeProject = project) => `/projects/${of.id}/issues`;

const made = async (
  attributes: Record<string, unknown> = {},
  of: MadeProject = project,
): Promise<Called['body']> =>
  bodyOf(await app.root(`POST ${path(of)}`, { body: { title: 'Something', ...attributes } }), 201);

const say = (iid: number, body: string, user: MadeUser = planner) =>
  as(user)(`POST ${path()}/${iid}/notes`, { body: { body } });

const shown = async (iid: number, of: MadeProject = project): Promise<Called['body']> =>
  bodyOf(await app.root(`GET ${path(of)}/${iid}`), 200);

/** The issues of the project, by their titles. */
const titled = async (title: string, of: MadeProject): Promise<Called['body'][]> =>
  bodyOf(await app.root(`GET ${path(of)}?search=${encodeURIComponent(title)}&in=title`), 200);

const textsOf = async (iid: number, of: MadeProject, filter = 'only_comments'): Promise<string[]> =>
  bodyOf(await app.root(`GET ${path(of)}/${iid}/notes?sort=asc&activity_filter=${filter}`), 200).map(
    ({ body }: { body: string }) => body,
  );

describe('the quick action', () => {
  test('/move takes the issue along, and the note that says so', async () => {
    const issue = await made({ title: 'Moves by a note' });
    const said = bodyOf(await say(issue.iid, `Goes.\n/move ${other.path_with_namespace}`), 201);
    expect(said.body).toBe('Goes.');
    const [moved] = await titled('Moves by a note', other);
    expect(await shown(issue.iid)).toMatchObject({ state: 'closed', moved_to_id: moved.id });
    expect(await textsOf(moved.iid, other)).toEqual(['Goes.']);
    const again = await say(issue.iid, `/move ${other.path_with_namespace}`);
    expect([again.status, again.body.message]).toEqual([
      400,
      '400 Bad request - Could not apply move command.',
    ]);
  });

  test('/clone makes another, here or elsewhere, with notes where that is said', async () => {
    const issue = await made({ title: 'Twins by a note' });
    bodyOf(await say(issue.iid, 'Kept'), 201);
    expect((await say(issue.iid, '/clone')).body.summary).toEqual(['Cloned this issue.']);
    expect(
      bodyOf(await say(issue.iid, `/clone ${other.path_with_namespace} --with_notes`), 202),
    ).toMatchObject({
      summary: [`Cloned this issue to ${other.path_with_namespace}.`],
    });
    const here = (await titled('Twins by a note', project)).find(({ id }) => id !== issue.id);
    const [there] = await titled('Twins by a note', other);
    expect([here.author.id, here.user_notes_count, there.user_notes_count]).toEqual([planner.id, 0, 1]);
    expect(await textsOf(there.iid, other)).toEqual(['Kept']);
    expect((await shown(issue.iid)).state).toBe('opened');
  });

  test('/promote makes an epic of the issue, with what its group can have of it', async () => {
    await app.root(`POST /projects/${project.id}/labels`, { body: { name: 'own', color: '#ff0000' } });
    await app.root(`POST /groups/${group.id}/labels`, { body: { name: 'shared', color: '#ff0000' } });
    await addMember(app, `groups/${group.id}`, planner, PLANNER);
    const parent = await makeEpic(app, group);
    const issue = await made({
      title: 'Grows',
      description: 'Like #1',
      labels: 'own,shared',
      epic_id: parent.id,
    });
    bodyOf(await say(issue.iid, 'Kept ~own ~shared', guest), 201);
    bodyOf(await app.root(`POST ${path()}/${issue.iid}/award_emoji`, { body: { name: 'thumbsup' } }), 201);
    expect(bodyOf(await say(issue.iid, '/promote'), 202).summary).toEqual(['Promoted issue to an epic.']);
    const [epic] = bodyOf(await app.root(`GET /groups/${group.id}/epics?search=Grows`), 200);
    expect(epic).toMatchObject({
      title: 'Grows',
      description: `Like ${project.path_with_namespace}#1`,
      author: { id: planner.id },
      labels: ['shared'],
      parent_id: parent.id,
      upvotes: 1,
    });
    const notes = bodyOf(await app.root(`GET /groups/${group.id}/epics/${epic.id}/notes?sort=asc`), 200);
    const bodies = notes.map(({ body }: { body: string }) => body);
    expect(bodies).toContain(`Kept ${project.path_with_namespace}~own ~shared`);
    expect(bodies).toContain(`promoted from issue ${project.path_with_namespace}#${issue.iid}`);
    expect((await shown(issue.iid)).state).toBe('closed');
    expect(await textsOf(issue.iid, project, 'only_activity')).toContain(
      `promoted to epic ${group.full_path}&${epic.iid}`,
    );
    expect((await say(issue.iid, '/reopen\n/promote')).status).toBe(202);
    expect(bodyOf(await app.root(`GET /groups/${group.id}/epics?search=Grows`), 200)).toHaveLength(1);
  });

  test('/promote said by several at once makes one epic', async () => {
    const issue = await made({ title: 'Contested' });
    const body = { body: '/promote' };
    const said = Array.from({ length: 3 }, () => app.root(`POST ${path()}/${issue.iid}/notes`, { body }));
    for (const { status } of await Promise.all(said)) expect([202, 400]).toContain(status);
    expect(bodyOf(await app.root(`GET /groups/${group.id}/epics?search=Contested`), 200)).toHaveLength(1);
  });

  test.each([
    ['/move of a guest', () => `/move ${other.path_with_namespace}`, () => guest],
    ['/clone of a guest', () => '/clone', () => guest],
    ['/move to where the speaker sees nothing', () => `/move ${hidden.path_with_namespace}`, () => planner],
    ['/clone to where the speaker sees nothing', () => `/clone ${hidden.path_with_namespace}`, () => planner],
    ['/move to where it is', () => `/move ${project.path_with_namespace}`, () => planner],
    ['/promote of a guest', () => '/promote', () => guest],
  ])('%s is refused', async (_what, text, user) => {
    const issue = await made();
    expect((await say(issue.iid, text(), user())).status).toBe(400);
    expect(await shown(issue.iid)).toMatchObject({ state: 'opened', moved_to_id: null });
  });

  test('/promote is refused to who makes no epics in the group, and where there is no group', async () => {
    const issue = await made({}, other);
    const refused = await as(planner)(`POST ${path(other)}/${issue.iid}/notes`, {
      body: { body: '/promote' },
    });
    expect(refused.status).toBe(400);
    const within = await makeUser(app);
    await addMember(app, `groups/${elsewhere.id}`, within, GUEST);
    await addMember(app, `projects/${other.id}`, within, PLANNER);
    const still = await as(within)(`POST ${path(other)}/${issue.iid}/notes`, { body: { body: '/promote' } });
    expect(still.status).toBe(400);
    const alone = await makeProject(app);
    const own = await made({}, alone);
    const none = await app.root(`POST ${path(alone)}/${own.iid}/notes`, { body: { body: '/promote' } });
    expect(none.status).toBe(400);
  });

  test('in a description moves what is there, and nothing that is being made', async () => {
    const text = `Text\n/move ${other.path_with_namespace}\n/clone`;
    const issue = await made({ title: 'Described', description: text });
    expect(issue).toMatchObject({ description: 'Text', project_id: project.id, state: 'opened' });
    const changed = await as(planner)(`PUT ${path()}/${issue.iid}`, { body: { description: text } });
    const [moved] = await titled('Described', other);
    expect(bodyOf(changed, 200)).toMatchObject({ state: 'closed', moved_to_id: moved.id });
    expect(moved.description).toBe('Text');
    expect(await titled('Described', project)).toHaveLength(1);
  });
});

describe('in the new place', () => {
  test('texts mean what they meant, and notes keep their awards', async () => {
    const from = project.path_with_namespace;
    await app.root(`POST /projects/${project.id}/labels`, { body: { name: 'two words', color: '#ff0000' } });
    const milestone = bodyOf(
      await app.root(`POST /projects/${project.id}/milestones`, { body: { title: 'v1' } }),
      201,
    );
    const epic = await makeEpic(app, group);
    const near = await made();
    await app.app.services.database.sql`
      insert into merge_requests (iid, project_id, source_branch, target_branch, author_id, title, draft, created_at, updated_at)
      values (7, ${project.id}, 'topic', 'main', 1, 'Topic', false, now(), now())`;
    const text = [
      `#${near.iid} #99999 !7 %v1 %"v1" &${epic.iid}`,
      '~"two words" ~missing `#1`',
      '```',
      '#1',
      '```',
    ].join('\n');
    const full = [
      `${from}#${near.iid} #99999 ${from}!7 ${from}%v1 ${from}%"v1" ${group.full_path}&${epic.iid}`,
      `${from}~"two words" ~missing \`#1\``,
      '```',
      '#1',
      '```',
    ].join('\n');
    const issue = await made({ description: text, milestone_id: milestone.id });
    const note = bodyOf(await say(issue.iid, text), 201);
    const award = { body: { name: 'tada' } };
    bodyOf(await as(guest)(`POST ${path()}/${issue.iid}/notes/${note.id}/award_emoji`, award), 201);
    bodyOf(await app.root(`PUT ${path()}/${issue.iid}`, { body: { milestone_id: 0 } }), 200);
    bodyOf(
      await as(planner)(`POST ${path()}/${issue.iid}/links`, {
        body: { target_project_id: project.id, target_issue_iid: near.iid },
      }),
      201,
    );
    const body = { to_project_id: other.id };
    const moved = bodyOf(await as(planner)(`POST ${path()}/${issue.iid}/move`, { body }), 201);
    expect(moved.description).toBe(full);
    const [kept] = bodyOf(
      await app.root(`GET ${path(other)}/${moved.iid}/notes?activity_filter=only_comments`),
      200,
    );
    expect([kept.body, kept.updated_at]).toEqual([full, note.updated_at]);
    const awards = await app.root(`GET ${path(other)}/${moved.iid}/notes/${kept.id}/award_emoji`);
    expect(bodyOf(awards, 200)).toMatchObject([
      { name: 'tada', user: { id: guest.id }, awardable_id: kept.id },
    ]);
    expect(await textsOf(moved.iid, other, 'only_activity')).toContain(
      `marked this issue as related to ${from}#${near.iid}`,
    );
    expect((await shown(issue.iid)).description).toBe(text);
  });

  test('what the groups around both have keeps its short name; a copy in the same project is the same', async () => {
    const sub = await makeGroup(app, { parent_id: group.id, visibility: 'public' });
    const below = await makeProject(app, { namespace_id: sub.id, visibility: 'public' });
    await app.root(`POST /groups/${group.id}/labels`, { body: { name: 'around', color: '#ff0000' } });
    const near = await made();
    const issue = await made({ description: `~around #${near.iid}` });
    const clone = async (to: MadeProject) =>
      bodyOf(await app.root(`POST ${path()}/${issue.iid}/clone`, { body: { to_project_id: to.id } }), 201);
    expect((await clone(below)).description).toBe(`~around ${project.path_with_namespace}#${near.iid}`);
    expect((await clone(project)).description).toBe(issue.description);
  });

  test('uploaded files come along, and stay when the others go', async () => {
    const form = new FormData();
    form.append('file', new Blob(['the content']), 'a.txt');
    const response = await fetch(`${app.url}/api/v4/projects/${project.id}/uploads`, {
      method: 'POST',
      headers: { 'private-token': planner.token },
      body: form,
    });
    const { id, url }: Called['body'] = await response.json();
    const absent = '0'.repeat(32);
    const issue = await made({ description: `[a](${url}) \`${url}\` /-/project/${project.id}${url}` });
    bodyOf(await say(issue.iid, `[a](${url}) /uploads/${absent}/b`), 201);
    const body = { to_project_id: other.id };
    const moved = bodyOf(await as(planner)(`POST ${path()}/${issue.iid}/move`, { body }), 201);
    const [, secret = ''] = /^\[a\]\(\/uploads\/([0-9a-f]{32})\/a\.txt\)/.exec(moved.description) ?? [];
    expect(moved.description).toBe(
      `[a](/uploads/${secret}/a.txt) \`${url}\` /-/project/${other.id}/uploads/${secret}/a.txt`,
    );
    expect(url).not.toContain(secret);
    expect(await textsOf(moved.iid, other)).toEqual([
      `[a](/uploads/${secret}/a.txt) /-/project/${project.id}/uploads/${absent}/b`,
    ]);
    expect((await app.root(`DELETE /projects/${project.id}/uploads/${id}`)).status).toBe(204);
    const fileOf = (name: string) =>
      join(app.app.services.config.data, 'uploads', 'files', name.slice(0, 2), name);
    await vi.waitFor(() => expect(existsSync(fileOf(url.split('/')[2]))).toBe(false), 20_000);
    const served = await fetch(`${app.url}/${other.path_with_namespace}/uploads/${secret}/a.txt`);
    expect([served.status, await served.text()]).toEqual([200, 'the content']);
    const listed = bodyOf(await app.root(`GET /projects/${other.id}/uploads`), 200);
    expect(listed).toMatchObject([{ filename: 'a.txt', size: 11, uploaded_by: { id: planner.id } }]);
  });
});
