/** The feed of a project: shapes of events, and their visibility. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Call, type Called, useApp } from '../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeUser,
  makeProject,
  makeSnippet,
  makeUser,
} from '../../../test/support/factories.ts';
import { makeIssue, makeMilestone } from '../../../test/support/planning.ts';

const ashlar = useApp();

type Event = Called['body'];

const feedOf = async (project: { id: number }, query = '', call: Call = ashlar.root): Promise<Event[]> =>
  bodyOf(await call(`GET /projects/${project.id}/events`, { query: `per_page=100&${query}` }), 200);

const change = async (path: string, body: Record<string, unknown>, method = 'PUT', status = 200) =>
  bodyOf(await ashlar.root(`${method} ${path}`, { body }), status);

const commit = (project: { id: number }, file_path: string) =>
  change(
    `/projects/${project.id}/repository/commits`,
    { branch: 'main', commit_message: 'Add', actions: [{ action: 'create', file_path, content: 'x' }] },
    'POST',
    201,
  );

describe('the shapes of the spec', () => {
  const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  let ada: MadeUser;
  let project: { id: number };
  let issue: { id: number; iid: number };
  beforeAll(async () => {
    ada = await makeUser(ashlar, { name: 'Ada' });
    project = await makeProject(ashlar);
    await makeIssue(ashlar, project);
    await addMember(ashlar, `projects/${project.id}`, ada, 40);
    issue = await makeIssue(ashlar, project, { title: 'Arch' }, ada);
  });
  const author = () => ({
    id: ada.id,
    username: ada.username,
    public_email: null,
    name: 'Ada',
    state: 'active',
    locked: false,
    avatar_url: expect.anything(),
    web_url: `${ashlar.url}/${ada.username}`,
  });
  const common = () => ({
    id: expect.any(Number),
    title: null,
    project_id: project.id,
    author_id: ada.id,
    created_at: iso,
    author: author(),
    author_username: ada.username,
    imported: false,
    imported_from: 'none',
  });
  const newest = async (path: string): Promise<Event> =>
    bodyOf(await ashlar.as(ada.token)(`GET ${path}`, { query: 'per_page=1' }), 200)[0];

  test('a plain one', async () => {
    expect(await newest('/events')).toEqual({
      ...common(),
      action_name: 'opened',
      target_id: issue.id,
      target_iid: issue.iid,
      target_type: 'Issue',
      target_title: 'Arch',
    });
  });

  test('one with a note, which is whole, and has the title of what it is on', async () => {
    const path = `/projects/${project.id}/issues/${issue.iid}/notes`;
    const note = bodyOf(await ashlar.as(ada.token)(`POST ${path}`, { body: { body: 'Well' } }), 201);
    const { id } = note;
    const plain = {
      ...common(),
      action_name: 'commented on',
      target_id: id,
      target_iid: id,
      target_type: 'Note',
      target_title: 'Arch',
      note: { ...note, attachment: null },
    };
    expect(note).toMatchObject({
      body: 'Well',
      noteable_type: 'Issue',
      noteable_iid: issue.iid,
      resolvable: false,
    });
    expect(await newest('/events')).toEqual(plain);
    expect(await newest(`/users/${ada.id}/events`)).toEqual(plain);
    expect(await newest(`/projects/${project.id}/events`)).toEqual({
      ...plain,
      data: null,
    });
    const thread = `/projects/${project.id}/issues/${issue.iid}/discussions`;
    bodyOf(await ashlar.as(ada.token)(`POST ${thread}`, { body: { body: 'Hm', internal: true } }), 201);
    expect(await newest('/events')).toMatchObject({
      target_type: 'DiscussionNote',
      target_title: 'Arch',
      note: { body: 'Hm', type: 'DiscussionNote', internal: true, resolvable: true, resolved: false },
    });
  });

  test('a push', async () => {
    const body = {
      branch: 'main',
      commit_message: `${'x'.repeat(80)}\n\nmore`,
      actions: [{ action: 'create', file_path: 'a', content: 'a' }],
    };
    const { id } = bodyOf(
      await ashlar.as(ada.token)(`POST /projects/${project.id}/repository/commits`, { body }),
      201,
    );
    expect(await newest('/events')).toEqual({
      ...common(),
      action_name: 'pushed new',
      target_id: null,
      target_iid: null,
      target_type: null,
      target_title: null,
      push_data: {
        commit_count: 1,
        action: 'created',
        ref_type: 'branch',
        commit_from: null,
        commit_to: id,
        ref: 'main',
        commit_title: 'x'.repeat(70),
        ref_count: null,
      },
    });
  });

  test('what is on a snippet or a commit', async () => {
    const place = `/projects/${project.id}`;
    const snippet = await makeSnippet(ashlar, `${place}/snippets`, ada);
    bodyOf(
      await ashlar.as(ada.token)(`POST ${place}/snippets/${snippet.id}/notes`, { body: { body: 'S' } }),
      201,
    );
    expect(await newest(`${place}/events`)).toMatchObject({
      target_title: snippet.title,
      note: { noteable_id: snippet.id, noteable_type: 'Snippet', noteable_iid: null },
    });
    bodyOf(
      await ashlar.as(ada.token)(`POST ${place}/repository/commits/main/comments`, { body: { note: 'C' } }),
      201,
    );
    expect(await newest(`${place}/events`)).toMatchObject({
      target_title: 'x'.repeat(80),
      note: { body: 'C', noteable_id: null, noteable_type: 'Commit', noteable_iid: null },
    });
  });
});

describe('who sees what', () => {
  const people = [
    'nobody',
    'stranger',
    'external',
    'auditor',
    'guest',
    'author',
    'assignee',
    'planner',
    'reporter',
    'admin',
  ] as const;
  type Person = (typeof people)[number];
  const calls = new Map<Person, Call>();
  let project: { id: number };
  /** The texts by which the tests recognise events. */
  const markOf = (event: Event): string =>
    event.note?.body ?? event.target_title ?? event.push_data?.ref ?? event.action_name;

  beforeAll(async () => {
    const ids = new Map<Person, number>();
    for (const person of people.slice(1, -1)) {
      const attributes = { external: person === 'external', auditor: person === 'auditor' };
      const { id, token } = await makeUser(ashlar, attributes);
      ids.set(person, id);
      calls.set(person, ashlar.as(token));
    }
    calls.set('nobody', ashlar.call).set('admin', ashlar.root);
    project = await makeProject(ashlar, { visibility: 'public' });
    const levels = { guest: 10, author: 10, assignee: 10, planner: 15, reporter: 20 } as const;
    for (const [person, level] of Object.entries(levels))
      await addMember(ashlar, `projects/${project.id}`, { id: ids.get(person as Person) ?? 0 }, level);
    const path = `/projects/${project.id}`;
    const plain = await makeIssue(ashlar, project, { title: 'plain' });
    const secret = bodyOf(
      await (calls.get('author') ?? ashlar.call)(`POST ${path}/issues`, {
        body: { title: 'secret', confidential: true },
      }),
      201,
    );
    await change(`${path}/issues/${secret.iid}`, { assignee_ids: [ids.get('assignee')] });
    const note = (iid: number, body: Record<string, unknown>) =>
      change(`${path}/issues/${iid}/notes`, body, 'POST', 201);
    await note(plain.iid, { body: 'note' });
    await note(plain.iid, { body: 'internal note', internal: true });
    await note(secret.iid, { body: 'secret note' });
    await makeMilestone(ashlar, `projects/${project.id}`, { title: 'milestone' });
    await change(`${path}/wikis`, { title: 'wiki', content: 'x' }, 'POST', 201);
    await commit(project, 'a.txt');
    const body = { title: 'x', visibility: 'private', files: [{ file_path: 'a', content: 'a' }] };
    const snippet = bodyOf(await ashlar.root(`POST ${path}/snippets`, { body }), 201);
    await change(`${path}/snippets/${snippet.id}/notes`, { body: 'snippet note' }, 'POST', 201);
  });

  const open = ['created', 'main', 'milestone', 'note', 'plain', 'wiki'];
  const joined = Array.from({ length: 5 }, () => 'joined');
  const secret = ['secret', 'secret note'];
  const whole = ['internal note', ...secret, 'snippet note'];
  const closedTo = { wiki_access_level: 'private', issues_access_level: 'private' };

  test.each([
    { person: 'nobody', more: [] },
    { person: 'stranger', more: [] },
    { person: 'external', more: [] },
    { person: 'auditor', more: whole },
    { person: 'guest', more: ['snippet note'] },
    { person: 'author', more: [...secret, 'snippet note'] },
    { person: 'assignee', more: [...secret, 'snippet note'] },
    { person: 'planner', more: whole },
    { person: 'reporter', more: whole },
    { person: 'admin', more: whole },
  ] as const)('$person in a public project', async ({ person, more }) => {
    const response = await (calls.get(person) ?? ashlar.call)(`GET /projects/${project.id}/events`, {
      query: 'per_page=100',
    });
    expect(bodyOf(response, 200).map(markOf).sort()).toEqual([...open, ...joined, ...more].sort());
    expect(response.headers.get('x-total')).toBe(String(open.length + joined.length + more.length));
  });

  test('what is for members only is not told to others; those of a private project neither', async () => {
    const marks = async (person: Person) => (await feedOf(project, '', calls.get(person))).map(markOf);
    await change(`/projects/${project.id}`, closedTo);
    for (const mark of ['plain', 'note', 'wiki']) {
      expect(await marks('stranger')).not.toContain(mark);
      expect(await marks('guest')).toContain(mark);
    }
    await change(`/projects/${project.id}`, { visibility: 'private' });
    for (const person of ['nobody', 'stranger'] as const)
      expect((await calls.get(person)?.(`GET /projects/${project.id}/events`))?.status).toBe(404);
    // Guests may not read code of a private project.
    expect(await marks('guest')).not.toContain('main');
    expect(await marks('reporter')).toContain('main');
  });

  const openTo = { wiki_access_level: 'enabled', issues_access_level: 'enabled' };
  const off = { wiki_access_level: 'disabled', issues_access_level: 'disabled' };
  test.each<[string, Record<string, unknown>]>([
    ['public', { visibility: 'public', ...openTo }],
    [
      'public, and closed inside',
      {
        visibility: 'public',
        ...closedTo,
        repository_access_level: 'private',
        snippets_access_level: 'private',
      },
    ],
    [
      'public, and without issues and wiki',
      { visibility: 'public', ...off, repository_access_level: 'enabled' },
    ],
    ['internal', { visibility: 'internal', ...openTo, snippets_access_level: 'enabled' }],
    ['private', { visibility: 'private' }],
  ])(
    'pages are full and totals are of what is shown, in every feed of a project that is %s',
    async (_, as) => {
      await change(`/projects/${project.id}`, as);
      const sizes = new Set<number>();
      for (const [person, call] of calls) {
        const lists: string[] = [];
        for (const feed of [`/projects/${project.id}/events`, '/users/1/events', '/events?scope=all']) {
          const [path = '', query = ''] = feed.split('?');
          const page = (more: string) => call(`GET ${path}`, { query: `${query}&${more}` });
          const whole = await page('per_page=100');
          if (whole.status !== 200) {
            expect([401, 404]).toContain(whole.status);
            continue;
          }
          const ids = (response: Called) => (response.body as { id: number }[]).map(({ id }) => id);
          const total = String(ids(whole).length);
          expect([person, feed, whole.headers.get('x-total')]).toEqual([person, feed, total]);
          const paged: number[] = [];
          for (let next: string | null = '1'; next; ) {
            const part: Called = await page(`per_page=3&page=${next}`);
            expect([person, feed, part.headers.get('x-total')]).toEqual([person, feed, total]);
            next = part.headers.get('x-next-page');
            if (next) expect(part.body).toHaveLength(3);
            paged.push(...ids(part));
          }
          expect(paged).toEqual(ids(whole));
          for (const [filter, all] of [
            ['after=2020-01-01&before=2100-01-01', true],
            ['before=2020-01-01', false],
          ] as const)
            expect((await page(`${filter}&per_page=1`)).headers.get('x-total')).toBe(all ? total : '0');
          for (const type of ['issue', 'note']) {
            const typed = await page(`target_type=${type}&per_page=100`);
            expect(typed.headers.get('x-total')).toBe(String(ids(typed).length));
          }
          const own = (whole.body as { project_id: number; author_id: number; id: number }[])
            .filter((event) => event.project_id === project.id && event.author_id === 1)
            .map(({ id }) => id);
          lists.push(JSON.stringify(own));
          sizes.add(own.length);
        }
        // Administrators and auditors reach all projects without membership, so the members' feed omits them.
        const decided = ['admin', 'auditor', 'stranger', 'external'].includes(person)
          ? lists.slice(0, 2)
          : lists;
        expect([person, new Set(decided).size]).toEqual([person, Math.min(1, decided.length)]);
      }
      expect(sizes.size).toBeGreaterThan(1);
    },
  );
});
