/**
 * Visibility of a project's work: confidential issues, internal notes, and all of a private project, in a
 * table, and the same in lists, single records, search, references in texts, and counts.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Call, ROOT_TOKEN, useApp } from '../support/app.ts';
import { addMember, bodyOf, makeGroup, makeProject, makeUser } from '../support/factories.ts';

const ashlar = useApp();

const people = ['nobody', 'stranger', 'guest', 'author', 'assignee', 'planner', 'reporter', 'admin'] as const;
type Person = (typeof people)[number];
const tokens = new Map<Person, string>([['admin', ROOT_TOKEN]]);
const by = (person: Person): Call => {
  const token = tokens.get(person);
  return token === undefined ? ashlar.call : ashlar.as(token);
};

/** In the public project: a plain issue, and a confidential one. In the private project of the same group: one issue. */
const seen: Record<Person, readonly string[]> = {
  nobody: ['plain'],
  stranger: ['plain'],
  guest: ['plain', 'private'],
  author: ['plain', 'secret', 'private'],
  assignee: ['plain', 'secret', 'private'],
  planner: ['plain', 'secret', 'private'],
  reporter: ['plain', 'secret', 'private'],
  admin: ['plain', 'secret', 'private'],
};
/** For the notes on the plain issue. */
const seesInternal: ReadonlySet<Person> = new Set(['planner', 'reporter', 'admin']);

let group = 0;
let open = { id: 0, path: '' };
let closed = { id: 0, path: '' };
const iids = { plain: 0, secret: 0, private: 0 };
let internalNote = 0;
let privateMilestone = { id: 0, title: 'Keystone milestone' };

const WORD = 'keystone';

beforeAll(async () => {
  const ids = new Map<Person, number>();
  for (const person of people.slice(1, -1)) {
    const { id, token } = await makeUser(ashlar, { username: person });
    ids.set(person, id);
    tokens.set(person, token);
  }
  const made = await makeGroup(ashlar, { visibility: 'public' });
  group = made.id;
  const levels = { guest: 10, author: 10, assignee: 10, planner: 15, reporter: 20 } as const;
  for (const [person, level] of Object.entries(levels))
    await addMember(ashlar, `groups/${group}`, { id: ids.get(person as Person) ?? 0 }, level);
  const inGroup = async (visibility: string) => {
    const { id, path_with_namespace: path } = await makeProject(ashlar, { namespace_id: group, visibility });
    return { id, path };
  };
  open = await inGroup('public');
  closed = await inGroup('private');
  const issue = async (person: Person, project: number, attributes: Record<string, unknown>) =>
    bodyOf(await by(person)(`POST /projects/${project}/issues`, { body: attributes }), 201).iid as number;
  iids.plain = await issue('admin', open.id, { title: `plain ${WORD}`, labels: 'counted' });
  iids.secret = await issue('author', open.id, { title: `secret ${WORD}`, confidential: true });
  bodyOf(
    await ashlar.root(`PUT /projects/${open.id}/issues/${iids.secret}`, {
      body: { assignee_ids: [ids.get('assignee')], labels: 'counted' },
    }),
    200,
  );
  iids.private = await issue('admin', closed.id, { title: `private ${WORD}` });
  const note = (body: Record<string, unknown>) =>
    ashlar.root(`POST /projects/${open.id}/issues/${iids.plain}/notes`, { body });
  bodyOf(await note({ body: `a public ${WORD}` }), 201);
  internalNote = bodyOf(await note({ body: `an internal ${WORD}`, internal: true }), 201).id;
  privateMilestone = bodyOf(
    await ashlar.root(`POST /projects/${closed.id}/milestones`, { body: { title: privateMilestone.title } }),
    201,
  );
});

/** The names of the issues in a response; none for a refusal. */
const namesIn = (called: { status: number; body: unknown }): string[] =>
  called.status === 200
    ? (called.body as { title: string }[]).map(({ title }) => title.split(' ')[0] ?? '').sort()
    : [`status ${called.status}`];
const among = (person: Person, ...names: string[]): string[] =>
  seen[person].filter((name) => names.includes(name)).sort();

describe.each(people.map((person) => ({ person })))('$person', ({ person }) => {
  test('lists', async () => {
    const call = by(person);
    expect({
      project: namesIn(await call(`GET /projects/${open.id}/issues`)),
      keyset: namesIn(await call(`GET /projects/${open.id}/issues?pagination=keyset&order_by=created_at`)),
      group: namesIn(await call(`GET /groups/${group}/issues`)),
      everywhere: namesIn(await call('GET /issues?scope=all')),
    }).toEqual({
      project: among(person, 'plain', 'secret'),
      keyset: among(person, 'plain', 'secret'),
      group: among(person, 'plain', 'secret', 'private'),
      everywhere: among(person, 'plain', 'secret', 'private'),
    });
  });

  test('single records', async () => {
    const status = async (project: number, iid: number) =>
      (await by(person)(`GET /projects/${project}/issues/${iid}`)).status;
    expect({
      plain: await status(open.id, iids.plain),
      secret: await status(open.id, iids.secret),
      private: await status(closed.id, iids.private),
    }).toEqual({
      plain: 200,
      secret: seen[person].includes('secret') ? 200 : 404,
      private: seen[person].includes('private') ? 200 : 404,
    });
    const discussions = await by(person)(`GET /projects/${open.id}/issues/${iids.secret}/notes`);
    expect(discussions.status).toBe(seen[person].includes('secret') ? 200 : 404);
    const milestone = await by(person)(`GET /projects/${closed.id}/milestones/${privateMilestone.id}`);
    expect(milestone.status).toBe(seen[person].includes('private') ? 200 : 404);
  });

  test('search', async () => {
    const found = async (path: string) => namesIn(await by(person)(`GET ${path}scope=issues&search=${WORD}`));
    if (person !== 'nobody') {
      expect({
        project: await found(`/projects/${open.id}/search?`),
        group: await found(`/groups/${group}/search?`),
        everywhere: await found('/search?'),
      }).toEqual({
        project: among(person, 'plain', 'secret'),
        group: among(person, 'plain', 'secret', 'private'),
        everywhere: among(person, 'plain', 'secret', 'private'),
      });
      const milestones = await by(person)(`GET /search?scope=milestones&search=${WORD}`);
      expect(milestones.body).toHaveLength(seen[person].includes('private') ? 1 : 0);
      const notes = await by(person)(`GET /projects/${open.id}/search?scope=notes&search=${WORD}`);
      expect(notes.body).toHaveLength(seesInternal.has(person) ? 2 : 1);
    }
  });

  test('references', async () => {
    const { plain, secret, private: hidden } = iids;
    const text = `#${plain} #${secret} ${closed.path}#${hidden}`;
    const body = { text, gfm: true, project: open.path };
    const called = await by(person)('POST /markdown', { body });
    if (person === 'nobody') return expect(called.status).toBe(401);
    const { html } = bodyOf(called, 201);
    expect({
      plain: html.includes(`/issues/${plain}"`),
      secret: html.includes(`/issues/${secret}"`),
      private: html.includes(`${closed.path}/-/issues/${hidden}"`),
    }).toEqual({
      plain: true,
      secret: seen[person].includes('secret'),
      private: seen[person].includes('private'),
    });
  });

  test('notes', async () => {
    const path = `/projects/${open.id}/issues/${iids.plain}`;
    const bodies = async (list: string) =>
      bodyOf(await by(person)(`GET ${path}/${list}`), 200) as { system?: boolean; notes?: unknown[] }[];
    const expected = seesInternal.has(person) ? 2 : 1;
    expect((await bodies('notes?activity_filter=only_comments')).length).toBe(expected);
    expect((await by(person)(`GET ${path}/notes/${internalNote}`)).status).toBe(
      seesInternal.has(person) ? 200 : 404,
    );
    const threads = await bodies('discussions');
    expect(threads.flatMap(({ notes = [] }) => notes).length).toBe(expected);
    expect(bodyOf(await by(person)(`GET ${path}`), 200).user_notes_count).toBe(1);
  });

  test('counts', async () => {
    const visible = among(person, 'plain', 'secret').length;
    const list = await by(person)(`GET /projects/${open.id}/issues`);
    expect(list.headers.get('x-total')).toBe(String(visible));
    const { statistics } = bodyOf(await by(person)(`GET /projects/${open.id}/issues_statistics`), 200);
    expect(statistics.counts).toEqual({ all: visible, closed: 0, opened: visible });
    const labels = bodyOf(await by(person)(`GET /projects/${open.id}/labels?with_counts=true`), 200);
    expect(labels[0].open_issues_count).toBe(visible);
    // Authors and assignees read their own confidential issues, but not all: those are not in the project's number.
    const project = bodyOf(await by(person)(`GET /projects/${open.id}`), 200);
    const shown = person === 'nobody' ? undefined : seesInternal.has(person) ? 2 : 1;
    expect(project.open_issues_count).toBe(shown);
  });
});
