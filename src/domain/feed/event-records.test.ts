/** Events in a project's feed, by the action that wrote them. */
import { rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Call, type Called, useApp } from '../../../test/support/app.ts';
import { addMember, bodyOf, makeGroup, makeProject, makeUser } from '../../../test/support/factories.ts';
import { addressOf, commitFiles, makeHome, mustGit } from '../../../test/support/git.ts';
import { makeIssue, makeMilestone } from '../../../test/support/planning.ts';

const ashlar = useApp();

type Event = Called['body'];

const feedOf = async (project: { id: number }, query = '', call: Call = ashlar.root): Promise<Event[]> =>
  bodyOf(await call(`GET /projects/${project.id}/events`, { query: `per_page=100&${query}` }), 200);

/** The events, oldest first. */
const told = async (project: { id: number }, query = ''): Promise<string[]> =>
  (await feedOf(project, `sort=asc&${query}`)).map((event) =>
    [event.action_name, event.target_type, event.target_title].filter((word) => word !== null).join(' '),
  );

const change = async (path: string, body: Record<string, unknown>, method = 'PUT', status = 200) =>
  bodyOf(await ashlar.root(`${method} ${path}`, { body }), status);
const remove = async (path: string, body: Record<string, unknown> = {}) =>
  expect([path, (await ashlar.root(`DELETE ${path}`, { body })).status]).toEqual([path, 204]);

const commit = (project: { id: number }, file_path: string, branch = 'main') =>
  change(
    `/projects/${project.id}/repository/commits`,
    { branch, commit_message: `Add ${file_path}`, actions: [{ action: 'create', file_path, content: 'x' }] },
    'POST',
    201,
  );

describe('what is told', () => {
  test('issues: begun, closed and begun again; not what else changes', async () => {
    const project = await makeProject(ashlar);
    const { iid } = await makeIssue(ashlar, project, { title: 'Arch' });
    const path = `/projects/${project.id}/issues/${iid}`;
    for (const body of [{ state_event: 'close' }, { title: 'Vault', labels: 'x' }, { state_event: 'reopen' }])
      await change(path, body);
    expect(await told(project)).toEqual([
      'created',
      'opened Issue Vault',
      'closed Issue Vault',
      'opened Issue Vault',
    ]);
    await remove(path);
    expect(await told(project)).toEqual(['created']);
  });

  test('an issue that moves or becomes an epic is closed where it was, once', async () => {
    const group = await makeGroup(ashlar);
    const project = await makeProject(ashlar, { namespace_id: group.id });
    const other = await makeProject(ashlar);
    const moved = await makeIssue(ashlar, project, { title: 'Moved' });
    await change(
      `/projects/${project.id}/issues/${moved.iid}/move`,
      { to_project_id: other.id },
      'POST',
      201,
    );
    const closed = await makeIssue(ashlar, project, { title: 'Closed' });
    await change(`/projects/${project.id}/issues/${closed.iid}`, { state_event: 'close' });
    await change(
      `/projects/${project.id}/issues/${closed.iid}/move`,
      { to_project_id: other.id },
      'POST',
      201,
    );
    const promoted = await makeIssue(ashlar, project, { title: 'Promoted' });
    await change(`/projects/${project.id}/issues/${promoted.iid}/notes`, { body: '/promote' }, 'POST', 202);
    expect(await told(project, 'target_type=issue')).toEqual([
      'opened Issue Moved',
      'closed Issue Moved',
      'opened Issue Closed',
      'closed Issue Closed',
      'opened Issue Promoted',
      'closed Issue Promoted',
    ]);
    expect(await told(other, 'target_type=issue')).toEqual(['opened Issue Moved', 'opened Issue Closed']);
  });

  test('notes: what people say, not what the system tells; a thread is one when it is answered', async () => {
    const project = await makeProject(ashlar);
    const { iid } = await makeIssue(ashlar, project);
    const path = `/projects/${project.id}/issues/${iid}`;
    await change(`${path}/notes`, { body: 'First' }, 'POST', 201);
    await change(`${path}/notes`, { body: '/close' }, 'POST', 202);
    await change(`${path}/discussions`, { body: 'Second' }, 'POST', 201);
    const gone = await change(`${path}/notes`, { body: 'Third' }, 'POST', 201);
    await remove(`${path}/notes/${gone.id}`);
    expect(await told(project)).toEqual(
      [
        'created',
        'opened Issue issue-1',
        'commented on Note issue-1',
        'closed Issue issue-1',
        'commented on DiscussionNote issue-1',
      ].map((text) => expect.stringMatching(new RegExp(`^${text.replace('issue-1', '.+')}$`))),
    );
  });

  test('milestones of the project: to their end', async () => {
    const project = await makeProject(ashlar);
    const { id } = await makeMilestone(ashlar, `projects/${project.id}`, { title: 'One' });
    const path = `/projects/${project.id}/milestones/${id}`;
    for (const state_event of ['close', 'activate']) await change(path, { state_event });
    expect(await told(project)).toEqual([
      'created',
      'opened Milestone One',
      'closed Milestone One',
      'opened Milestone One',
    ]);
    await remove(path);
    expect(await told(project)).toEqual(['created', 'destroyed Milestone One']);
  });

  test('members of the project come and go; those of its group do not', async () => {
    const group = await makeGroup(ashlar);
    const project = await makeProject(ashlar, { namespace_id: group.id });
    const [ada, ben] = [await makeUser(ashlar), await makeUser(ashlar)];
    await addMember(ashlar, `projects/${project.id}`, ada, 30);
    await addMember(ashlar, `groups/${group.id}`, ben, 30);
    await remove(`/projects/${project.id}/members/${ada.id}`);
    const events = await feedOf(project, 'sort=asc');
    expect(events.slice(1).map((event) => [event.action_name, event.author_username])).toEqual([
      ['joined', ada.username],
      ['left', ada.username],
    ]);
    await addMember(ashlar, `projects/${project.id}`, ada, 30);
    const { sql } = ashlar.app.services.database;
    await sql`update members set expires_at = '2020-01-01' where project_id = ${project.id} and user_id = ${ada.id}`;
    const members = ashlar.app.capabilities.find(({ name }) => name === 'members');
    await members?.tasks?.['members.expire']?.({});
    expect((await feedOf(project))[0]).toMatchObject({
      action_name: 'removed due to membership expiration from',
      author_username: ada.username,
    });
  });

  test('wiki pages of the project: to their end', async () => {
    const project = await makeProject(ashlar);
    const path = `/projects/${project.id}/wikis`;
    await change(path, { title: 'Plan', content: 'x' }, 'POST', 201);
    await change(`${path}/Plan`, { content: 'y' });
    expect(await told(project)).toEqual([
      'created',
      'created WikiPage::Meta Plan',
      'updated WikiPage::Meta Plan',
    ]);
    const [last] = await feedOf(project);
    expect(last.wiki_page).toEqual({
      format: 'markdown',
      slug: 'Plan',
      title: 'Plan',
      wiki_page_meta_id: last.target_id,
    });
    await remove(`${path}/Plan`);
    expect(await told(project)).toEqual(['created', 'destroyed WikiPage::Meta Plan']);
  });

  test('wiki pages that come by git', async () => {
    const ada = await makeUser(ashlar);
    const project = await makeProject(ashlar);
    await addMember(ashlar, `projects/${project.id}`, ada, 30);
    const home = makeHome();
    await mustGit(home, ['init', '-q']);
    const push = async (ref = 'main') =>
      mustGit(home, [
        ...['push', '-q', addressOf(ashlar.url, `${project.path_with_namespace}.wiki`, ada.token)],
        `main:refs/heads/${ref}`,
      ]);
    await commitFiles(home, { 'Home.md': 'a', 'notes.txt': 'x', 'deep/Plan.md': 'b' });
    await push();
    await commitFiles(home, { 'Home.md': 'aa' });
    await mustGit(home, ['mv', 'deep/Plan.md', 'Aim.md']);
    await commitFiles(home, { 'notes.txt': 'y' });
    await push();
    const before = await told(project, 'target_type=wiki');
    expect(before).toEqual([
      'created WikiPage::Meta Home',
      'created WikiPage::Meta Aim',
      'updated WikiPage::Meta Aim',
      'updated WikiPage::Meta Home',
    ]);
    await mustGit(home, ['rm', '-q', 'Home.md']);
    await mustGit(home, ['commit', '-q', '-m', 'Remove']);
    await push('side');
    expect(await told(project, 'target_type=wiki')).toEqual(before);
    await push();
    rmSync(home, { recursive: true });
    const events = await feedOf(project, 'target_type=wiki');
    expect(events.map(({ action_name, target_title }) => [action_name, target_title])).toEqual([
      ['destroyed', 'Home'],
      ['updated', 'Aim'],
      ['created', 'Aim'],
    ]);
    expect(new Set(events.map(({ author_id }) => author_id))).toEqual(new Set([ada.id]));
    expect(new Set(events.slice(1).map(({ target_id }) => target_id)).size).toBe(1);
  });

  test('pushes by the API: commits, branches and tags', async () => {
    const project = await makeProject(ashlar);
    const path = `/projects/${project.id}/repository`;
    await commit(project, 'a.txt');
    await change(`${path}/branches`, { branch: 'side', ref: 'main' }, 'POST', 201);
    await commit(project, 'b.txt', 'side');
    await change(`${path}/tags`, { tag_name: 'v1', ref: 'main' }, 'POST', 201);
    await remove(`${path}/branches/side`);
    await remove(`${path}/tags/v1`);
    const events = (await feedOf(project, 'sort=asc&action=pushed')).map(({ action_name, push_data }) => [
      action_name,
      push_data.ref_type,
      push_data.ref,
      push_data.commit_title,
    ]);
    expect(events).toEqual([
      ['pushed new', 'branch', 'main', 'Add a.txt'],
      ['pushed new', 'branch', 'side', 'Add a.txt'],
      ['pushed to', 'branch', 'side', 'Add b.txt'],
      ['pushed new', 'tag', 'v1', 'Add a.txt'],
      ['deleted', 'branch', 'side', null],
      ['deleted', 'tag', 'v1', null],
    ]);
  });

  test('pushes by git: each ref, and many of one push as one', async () => {
    const ada = await makeUser(ashlar);
    const project = await makeProject(ashlar);
    await addMember(ashlar, `projects/${project.id}`, ada, 40);
    const home = makeHome();
    await mustGit(home, ['init', '-q']);
    await commitFiles(home, { 'a.txt': 'a' }, 'Begin');
    const to = addressOf(ashlar.url, project.path_with_namespace, ada.token);
    const push = (count: number, name: string) =>
      mustGit(home, [
        'push',
        '-q',
        to,
        ...Array.from({ length: count }, (_, i) => `main:refs/heads/${name}-${i}`),
      ]);
    await push(3, 'few');
    await push(4, 'many');
    rmSync(home, { recursive: true });
    const events = await feedOf(project, 'sort=asc&action=pushed');
    expect(events.map(({ push_data }) => [push_data.ref, push_data.ref_count]).sort()).toEqual([
      [null, 4],
      ['few-0', null],
      ['few-1', null],
      ['few-2', null],
    ]);
    expect(events.at(-1)).toMatchObject({ action_name: 'pushed new', author_id: ada.id });
  });

  test('an event makes the project active, once an hour', async () => {
    const { sql } = ashlar.app.services.database;
    const project = await makeProject(ashlar);
    const { iid } = await makeIssue(ashlar, project);
    const activeAt = async () =>
      (await sql<{ at: Date }[]>`select last_activity_at as at from projects where id = ${project.id}`)[0]
        ?.at;
    const age = (minutes: number) => sql`
      update projects set last_activity_at = now() - ${minutes} * interval '1 minute' where id = ${project.id}`;
    const note = () => change(`/projects/${project.id}/issues/${iid}/notes`, { body: 'Well' }, 'POST', 201);
    const bears: Record<string, () => Promise<unknown>> = { note, issue: () => makeIssue(ashlar, project) };
    for (const [what, act] of Object.entries(bears)) {
      await age(59);
      const before = await activeAt();
      await act();
      expect([what, await activeAt()]).toEqual([what, before]);
      await age(61);
      const old = await activeAt();
      await act();
      expect([what, ((await activeAt())?.getTime() ?? 0) > (old?.getTime() ?? 0)]).toEqual([what, true]);
    }
  });
});
