/** Visibility of issues: the same everywhere, by number, in lists and in counts. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Called, useApp } from '../../../../test/support/app.ts';
import { insertIssue } from '../../../../test/support/issues.ts';
import {
  type MadeUser,
  makeGroup,
  makeMember,
  makeProject,
  makeUser,
} from '../../../../test/support/rows.ts';

const ashlar = useApp();

const PUBLIC = 20;
const people: Record<string, MadeUser> = {};
const projects: Record<string, number> = {};
let group: number;

/** In each project: an open one, and confidential ones by another user, by the author, and for the assignee. */
const issues = ['open', 'secret', 'own', 'assigned'] as const;
const byId = new Map<number, string>();

beforeAll(async () => {
  for (const name of ['outsider', 'external', 'minimal', 'author', 'assignee', 'guest', 'planner', 'owner'])
    people[name] = await makeUser(ashlar, { username: name });
  const person = (name: string): MadeUser => people[name] ?? expect.fail(name);
  const { db } = ashlar.app.services.database;
  await db.updateTable('users').set({ external: true }).where('id', '=', person('external').id).execute();
  const made = await makeGroup(ashlar, { owner: person('owner'), visibility: PUBLIC });
  group = made.id;
  const levels = { minimal: 5, guest: 10, author: 10, assignee: 10, planner: 15 };
  for (const [name, level] of Object.entries(levels))
    await makeMember(ashlar, { namespace_id: group }, person(name), level);
  const kinds: [string, number, Record<string, string>][] = [
    ['public', PUBLIC, {}],
    ['internal', 10, {}],
    ['private', 0, {}],
    ['members', PUBLIC, { issues_access_level: 'private' }],
    ['off', PUBLIC, { issues_access_level: 'disabled' }],
  ];
  for (const [name, visibility, settings] of kinds) {
    const { id } = await makeProject(ashlar, { of: made, visibility });
    await db.updateTable('projects').set({ settings }).where('id', '=', id).execute();
    projects[name] = id;
    const base = { project_id: id, author_id: person('owner').id };
    const rows = {
      open: base,
      secret: { ...base, confidential: true },
      own: { ...base, confidential: true, author_id: person('author').id },
      assigned: { ...base, confidential: true, assignee_ids: [person('assignee').id] },
    };
    for (const issue of issues) byId.set((await insertIssue(ashlar, rows[issue])).id, `${name}/${issue}`);
  }
});

const everything = ['public', 'internal', 'private', 'members'].flatMap((project) =>
  issues.map((issue) => `${project}/${issue}`),
);
const opens = (...projects: string[]): string[] => projects.map((project) => `${project}/open`);
const plus = (issue: string): string[] =>
  ['public', 'internal', 'private', 'members'].flatMap((project) => [
    `${project}/open`,
    `${project}/${issue}`,
  ]);

const seen: [name: string, issues: string[]][] = [
  ['nobody', opens('public')],
  ['outsider', opens('public', 'internal')],
  ['external', opens('public')],
  ['minimal', opens('public', 'internal')],
  ['guest', opens('public', 'internal', 'private', 'members')],
  ['author', plus('own')],
  ['assignee', plus('assigned')],
  ['planner', everything],
  ['owner', everything],
  ['root', everything],
];

const callerOf = (name: string) => {
  if (name === 'nobody') return ashlar.call;
  return name === 'root' ? ashlar.root : ashlar.as(people[name]?.token ?? '');
};
const namesOf = ({ body }: Called): string[] =>
  body.map((issue: { id: number }) => byId.get(issue.id) ?? '?').toSorted();

describe.each(seen)('%s', (name, expected) => {
  const sorted = expected.toSorted();

  test('sees the same in lists over projects', async () => {
    const call = callerOf(name);
    expect(namesOf(await call(`GET /groups/${group}/issues`, { query: 'per_page=100' }))).toEqual(sorted);
    expect(namesOf(await call('GET /issues', { query: 'scope=all&per_page=100' }))).toEqual(sorted);
  });

  test('sees the same where a filter leads to few', async () => {
    const query = `scope=all&per_page=100&author_username=owner&search=issue`;
    const expected = sorted.filter((issue) => !issue.endsWith('/own'));
    expect(namesOf(await callerOf(name)('GET /issues', { query }))).toEqual(expected);
  });

  test('sees the same in a project, and by number', async () => {
    for (const [project, id] of Object.entries(projects)) {
      const call = callerOf(name);
      const here = sorted.filter((issue) => issue.startsWith(`${project}/`));
      const list = await call(`GET /projects/${id}/issues`);
      if (here.length > 0) expect(namesOf(list)).toEqual(here);
      else expect([403, 404]).toContain(list.status);
      const shown: string[] = [];
      for (const [index, issue] of issues.entries())
        if ((await call(`GET /projects/${id}/issues/${index + 1}`)).status === 200)
          shown.push(`${project}/${issue}`);
      expect(shown.toSorted()).toEqual(here);
    }
  });

  test('counts the same', async () => {
    const call = callerOf(name);
    for (const path of [`GET /groups/${group}/issues_statistics`, 'GET /issues_statistics'])
      expect((await call(path, { query: 'scope=all' })).body.statistics.counts.all).toBe(expected.length);
    const listed = await call(`GET /groups/${group}/issues`, { query: 'per_page=1' });
    expect(listed.headers.get('x-total')).toBe(String(expected.length));
  });
});

test('a hidden issue is answered like one that is not there', async () => {
  const call = callerOf('guest');
  const hidden = await call(`GET /projects/${projects.public}/issues/2`);
  const missing = await call(`GET /projects/${projects.public}/issues/99`);
  expect([hidden.status, hidden.body]).toEqual([missing.status, missing.body]);
  expect(missing.body).toEqual({ message: '404 Not found' });
  for (const rest of ['participants', 'closed_by', 'related_merge_requests'])
    expect((await call(`GET /projects/${projects.public}/issues/2/${rest}`)).status).toBe(404);
});

test('what is archived is left out of lists over projects unless it is asked for', async () => {
  const { db } = ashlar.app.services.database;
  const id = projects.public ?? 0;
  await db.updateTable('projects').set({ archived: true }).where('id', '=', id).execute();
  const call = callerOf('guest');
  expect(namesOf(await call(`GET /groups/${group}/issues`))).not.toContain('public/open');
  const all = await call(`GET /groups/${group}/issues`, { query: 'non_archived=false' });
  expect(namesOf(all)).toContain('public/open');
  expect((await call(`GET /projects/${id}/issues/1`)).status).toBe(200);
  await db.updateTable('projects').set({ archived: false }).where('id', '=', id).execute();
});
