/** Visibility in search: hidden records are neither found nor counted, in any scope and container. */
import { beforeAll, expect, test } from 'vitest';
import { type Call, ROOT_TOKEN, useApp } from '../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeUser,
  makeGroup,
  makeProject,
  makeSnippet,
  makeUser,
} from '../../../test/support/factories.ts';

const app = useApp();
const people: Record<string, Call> = {};
let group = 0;
const projects: Record<string, number> = {};

const VISIBILITIES = ['public', 'internal', 'private'] as const;

/** Issues, merge requests, milestones and notes by SQL: search does not depend on how they were written. */
async function fill(project: number, name: string, author: number, assignee: number): Promise<void> {
  const { sql } = app.app.services.database;
  await sql`insert into milestones (iid, project_id, title, created_at, updated_at)
    values (1, ${project}, ${`quokka of ${name}`}, now(), now())`;
  const issues = await sql<{ id: number; iid: number }[]>`
    insert into issues (iid, project_id, author_id, title, description, confidential, relative_position, created_at, updated_at)
    values (1, ${project}, 1, ${`quokka ${name} open`}, null, false, 1, now(), now()),
      (2, ${project}, ${author}, ${`quokka ${name} secret`}, null, true, 2, now(), now()) returning id, iid`;
  for (const { id, iid } of issues) {
    if (iid === 2) await sql`insert into issue_assignees (issue_id, user_id) values (${id}, ${assignee})`;
    for (const internal of [false, true]) {
      const body = `quokka ${name} ${iid === 2 ? 'secret' : 'open'}${internal ? ' internal' : ''}`;
      await sql`insert into notes (project_id, issue_id, author_id, body, discussion_id, internal, created_at, updated_at)
        values (${project}, ${id}, 1, ${body}, 'a', ${internal}, now(), now())`;
    }
  }
  await sql`insert into notes (project_id, issue_id, author_id, body, discussion_id, system_action, created_at, updated_at)
    select ${project}, id, 1, 'changed quokka', 'b', 'title', now(), now() from issues where project_id = ${project}`;
  await sql`with made as (
      insert into merge_requests (iid, project_id, source_project_id, source_branch, target_branch, author_id, title, draft,
        created_at, updated_at)
      values (1, ${project}, ${project}, 'topic', 'main', 1, ${`quokka ${name} merge`}, false, now(), now()) returning id)
    insert into notes (project_id, merge_request_id, author_id, body, discussion_id, internal, created_at, updated_at)
      select ${project}, id, 1, ${`quokka ${name} merge`} || kind, 'd', kind <> '', now(), now()
      from made, unnest(array['', ' internal']) kind`;
  await sql`insert into notes (project_id, commit_sha, author_id, body, discussion_id, created_at, updated_at)
    values (${project}, ${'a'.repeat(40)}, 1, ${`quokka ${name} commit`}, 'c', now(), now())`;
}

beforeAll(async () => {
  const users: Record<string, MadeUser> = {};
  for (const name of ['outsider', 'guest', 'planner', 'reporter', 'author', 'assignee'])
    users[name] = await makeUser(app, { name: `quokka ${name}` });
  users.external = await makeUser(app, { name: 'quokka external', external: true });
  users.auditor = await makeUser(app, { name: 'quokka auditor', auditor: true });
  const blocked = await makeUser(app, { name: 'quokka blocked' });
  const id = (name: string): number => users[name]?.id ?? 0;
  group = (await makeGroup(app, { visibility: 'public' })).id;
  for (const visibility of VISIBILITIES) {
    const attributes = { visibility, namespace_id: group, description: `quokka ${visibility}` };
    const project = await makeProject(app, attributes);
    projects[visibility] = project.id;
    await fill(project.id, visibility, id('author'), id('assignee'));
  }
  for (const name of ['guest', 'planner', 'reporter', 'author', 'assignee']) {
    const level = { planner: 15, reporter: 20 }[name] ?? 10;
    await addMember(app, `projects/${projects.private ?? 0}`, { id: id(name) }, level);
  }
  const { author } = users;
  if (!author) throw new Error('no author');
  for (const visibility of VISIBILITIES) {
    await makeSnippet(app, '/snippets', author, { title: `quokka personal ${visibility}`, visibility });
    for (const within of ['public', 'private']) {
      const title = `quokka ${within} ${visibility}`;
      await makeSnippet(
        app,
        `/projects/${projects[within]}/snippets`,
        { token: ROOT_TOKEN },
        { title, visibility },
      );
    }
  }
  bodyOf(await app.root(`POST /users/${blocked.id}/block`), 201);
  people.anonymous = app.call;
  for (const [name, { token }] of Object.entries(users)) people[name] = app.as(token);
  people.admin = app.root;
});

type Found = { title?: string; description?: string; body?: string; name?: string };
const label = ({ title, description, body, name }: Found): string =>
  (title ?? body ?? (name?.includes('quokka') ? name : description) ?? '').replace(/^quokka (of )?/, '');

/** Each user's results, as one line for each list that several share. */
async function whoFinds(
  path: string,
  scope: string,
  names = Object.keys(people),
): Promise<Record<string, string>> {
  const lines: Record<string, string> = {};
  for (const name of names) {
    const call = people[name] ?? app.call;
    const { status, body, headers } = await call(`GET ${path}`, {
      query: `scope=${scope}&search=quokka&per_page=100`,
    });
    if (status === 200) expect([name, headers.get('x-total')]).toEqual([name, String(body.length)]);
    lines[name] = status === 200 ? body.map(label).sort().join(', ') : String(status);
  }
  return lines;
}

const everywhere = ['public', 'internal', 'private'];
const sorted = (...labels: string[]): string => labels.sort().join(', ');
const each = (suffix: string, names = everywhere): string[] => names.map((name) => `${name} ${suffix}`);

test('projects and their milestones', async () => {
  const open = sorted('public', 'internal');
  const all = sorted(...everywhere);
  const found = {
    anonymous: '401',
    outsider: open,
    guest: all,
    planner: all,
    reporter: all,
    author: all,
    assignee: all,
    external: 'public',
    auditor: all,
    admin: all,
  };
  for (const scope of ['projects', 'milestones']) {
    expect([scope, await whoFinds('/search', scope)]).toEqual([scope, found]);
    const inGroup = { ...found, anonymous: 'public' };
    expect([scope, await whoFinds(`/groups/${group}/search`, scope)]).toEqual([scope, inGroup]);
    expect([scope, await whoFinds(`/groups/${group}/-/search`, scope)]).toEqual([scope, inGroup]);
  }
});

test('issues, confidential ones only by who reads them', async () => {
  const secrets = sorted(...each('open'), ...each('secret'));
  const found = {
    anonymous: '401',
    outsider: sorted('public open', 'internal open'),
    guest: sorted(...each('open')),
    planner: sorted(...each('open'), 'private secret'),
    reporter: sorted(...each('open'), 'private secret'),
    author: secrets,
    assignee: secrets,
    external: 'public open',
    auditor: secrets,
    admin: secrets,
  };
  expect(await whoFinds('/search', 'issues')).toEqual(found);
  expect(await whoFinds(`/groups/${group}/search`, 'issues')).toEqual({ ...found, anonymous: 'public open' });
  expect(await whoFinds(`/projects/${projects.public}/search`, 'issues')).toEqual({
    ...Object.fromEntries(Object.keys(found).map((name) => [name, 'public open'])),
    ...Object.fromEntries(
      ['author', 'assignee', 'auditor', 'admin'].map((name) => [name, 'public open, public secret']),
    ),
  });
});

test('merge requests, by who reads code', async () => {
  const open = sorted('public merge', 'internal merge');
  const all = sorted(...each('merge'));
  const found = {
    anonymous: '401',
    outsider: open,
    guest: open,
    planner: open,
    reporter: all,
    author: open,
    assignee: open,
    external: 'public merge',
    auditor: all,
    admin: all,
  };
  expect(await whoFinds('/search', 'merge_requests')).toEqual(found);
  const inGroup = { ...found, anonymous: 'public merge' };
  expect(await whoFinds(`/groups/${group}/search`, 'merge_requests')).toEqual(inGroup);
  const names = ['anonymous', 'guest', 'reporter', 'auditor'];
  expect(await whoFinds(`/projects/${projects.private}/search`, 'merge_requests', names)).toEqual({
    anonymous: '404',
    guest: '',
    reporter: 'private merge',
    auditor: 'private merge',
  });
});

test('notes, internal ones only by who reads them, and on what is read', async () => {
  const open = 'public commit, public merge, public open';
  const own = `${open}, public secret`;
  const everything = (name: string) =>
    sorted(
      `${name} commit`,
      `${name} merge`,
      `${name} merge internal`,
      `${name} open`,
      `${name} open internal`,
      `${name} secret`,
      `${name} secret internal`,
    );
  expect(await whoFinds(`/projects/${projects.public}/search`, 'notes')).toEqual({
    anonymous: open,
    outsider: open,
    guest: open,
    planner: open,
    reporter: open,
    author: own,
    assignee: own,
    external: open,
    auditor: everything('public'),
    admin: everything('public'),
  });
  expect(await whoFinds(`/projects/${projects.private}/-/search`, 'notes')).toEqual({
    anonymous: '404',
    outsider: '404',
    guest: 'private open',
    planner: everything('private').replace('private commit, private merge, private merge internal, ', ''),
    reporter: everything('private'),
    author: 'private open, private secret',
    assignee: 'private open, private secret',
    external: '404',
    auditor: everything('private'),
    admin: everything('private'),
  });
});

test('snippets, by their own visibility and their project', async () => {
  const open = ['personal internal', 'personal public', 'public internal', 'public public'];
  const member = sorted(...open, 'private internal', 'private private', 'private public');
  const all = sorted(
    ...['personal', 'public', 'private'].flatMap((place) => everywhere.map((own) => `${place} ${own}`)),
  );
  expect(await whoFinds('/search', 'snippet_titles')).toEqual({
    anonymous: '401',
    outsider: sorted(...open),
    guest: member,
    planner: member,
    reporter: member,
    author: sorted(...member.split(', '), 'personal private'),
    assignee: member,
    external: sorted('personal public', 'public public'),
    auditor: all,
    admin: all,
  });
});

test('users: everybody but the blocked, and in a project its members', async () => {
  const members = ['guest', 'planner', 'reporter', 'author', 'assignee'];
  const all = [...members, 'outsider', 'external', 'auditor'];
  expect(await whoFinds('/search', 'users', ['anonymous', 'outsider', 'external', 'admin'])).toEqual({
    anonymous: '401',
    outsider: sorted(...all),
    external: sorted(...all),
    admin: sorted(...all, 'blocked'),
  });
  expect(
    await whoFinds(`/projects/${projects.private}/search`, 'users', ['outsider', 'guest', 'admin']),
  ).toEqual({
    outsider: '404',
    guest: sorted(...members),
    admin: sorted(...members),
  });
});

test('members of a group are found by who sees the subgroup that they are in', async () => {
  const [top, member, below] = [
    await makeGroup(app, { visibility: 'public' }),
    await makeUser(app),
    await makeUser(app),
  ];
  const hidden = await makeGroup(app, { parent_id: top.id, visibility: 'private' });
  await addMember(app, `groups/${top.id}`, member, 10);
  await addMember(app, `groups/${hidden.id}`, below, 10);
  const names = async (call: Call, id: number) => {
    const { status, body } = await call(`GET /groups/${id}/search`, { query: 'scope=users&search=user-' });
    return status === 200 ? body.map(({ id: found }: { id: number }) => found).sort() : status;
  };
  const both = [member.id, below.id].sort();
  expect(await names(app.call, top.id)).toEqual([member.id]);
  expect(await names(app.as(below.token), top.id)).toEqual(both);
  expect(await names(app.root, top.id)).toEqual(both);
  expect(await names(app.call, hidden.id)).toBe(404);
  expect(await names(app.as(below.token), hidden.id)).toEqual(both);
});

test('what a project has turned off is found by nobody, and what it keeps to itself only inside', async () => {
  const at = `/projects/${projects.internal}/search`;
  const issues = () => whoFinds(at, 'issues', ['outsider', 'author', 'admin']);
  const notes = () => whoFinds(at, 'notes', ['outsider', 'admin']);
  const put = async (level: string) =>
    bodyOf(
      await app.root(`PUT /projects/${projects.internal}`, { body: { issues_access_level: level } }),
      200,
    );
  try {
    await put('private');
    expect(await issues()).toEqual({ outsider: '', author: '', admin: 'internal open, internal secret' });
    expect((await notes()).outsider).toBe('internal commit, internal merge');
    await put('disabled');
    expect(await issues()).toEqual({ outsider: '', author: '', admin: '' });
    const rest = 'internal commit, internal merge';
    expect(await notes()).toEqual({ outsider: rest, admin: `${rest}, internal merge internal` });
    expect((await whoFinds('/search', 'issues', ['admin'])).admin).not.toContain('internal');
  } finally {
    await put('enabled');
  }
});

test('merge requests too, by their own level and by that of the repository', async () => {
  const at = `/projects/${projects.internal}/search`;
  const names = ['outsider', 'admin'];
  const put = async (settings: Record<string, string>) =>
    bodyOf(await app.root(`PUT /projects/${projects.internal}`, { body: settings }), 200);
  const found = async () => ({
    merge_requests: await whoFinds(at, 'merge_requests', names),
    notes: (await whoFinds(at, 'notes', ['outsider'])).outsider,
  });
  const notes = 'internal commit, internal open';
  try {
    await put({ merge_requests_access_level: 'private' });
    expect(await found()).toEqual({ merge_requests: { outsider: '', admin: 'internal merge' }, notes });
    await put({ merge_requests_access_level: 'disabled' });
    expect(await found()).toEqual({ merge_requests: { outsider: '', admin: '' }, notes });
    await put({ merge_requests_access_level: 'enabled', repository_access_level: 'private' });
    expect(await found()).toEqual({
      merge_requests: { outsider: '', admin: 'internal merge' },
      notes: 'internal open',
    });
  } finally {
    await put({ merge_requests_access_level: 'enabled', repository_access_level: 'enabled' });
  }
});

test('archived projects are left out unless asked for, but not in themselves', async () => {
  bodyOf(await app.root(`POST /projects/${projects.internal}/archive`), 201);
  try {
    for (const scope of ['projects', 'issues', 'merge_requests', 'milestones']) {
      const found = async (path: string, more = '') =>
        bodyOf(
          await app.root(`GET ${path}`, { query: `scope=${scope}&search=quokka%20internal${more}` }),
          200,
        ).length;
      expect([scope, await found('/search')]).toEqual([scope, 0]);
      expect([scope, await found(`/groups/${group}/search`)]).toEqual([scope, 0]);
      expect(await found('/search', '&include_archived=true')).toBeGreaterThan(0);
      if (scope !== 'projects')
        expect(await found(`/projects/${projects.internal}/search`)).toBeGreaterThan(0);
    }
  } finally {
    bodyOf(await app.root(`POST /projects/${projects.internal}/unarchive`), 201);
  }
});
