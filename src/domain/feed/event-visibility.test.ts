/** Every kind of event under every ability that decides its visibility. */
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { makeGroup, makeProject, makeUser } from '../../../test/support/factories.ts';
import { callerCte } from '../../kernel/access/membership-queries.ts';
import type { Actor, Caller } from '../../kernel/actor.ts';
import type { ProjectAbility } from '../../kernel/policy/policy.ts';
import { GUEST, NO_ACCESS, PRIVATE, PUBLIC, type Role } from '../../kernel/policy/roles.ts';
import { seenOf, visibleEvents } from './visibility-queries.ts';

const ashlar = useApp();
const ROOT = 1;
const GONE = 999_999_999;
let caller: Actor;
let projectId: number;
let elsewhere: number;
let groupId: number;
let iid = 0;

beforeAll(async () => {
  const { id } = await makeUser(ashlar);
  caller = { id, admin: false, auditor: false, external: false } as Actor;
  projectId = (await makeProject(ashlar)).id;
  groupId = (await makeGroup(ashlar)).id;
  elsewhere = (await makeProject(ashlar)).id;
});

/** Inserts a row by SQL, because the API does not write all of them; returns its id. */
async function insert(table: string, values: Record<string, unknown>): Promise<number> {
  const names = Object.keys(values).map((name) => sql.ref(name));
  const { rows } = await sql<{ id: number }>`
    insert into ${sql.table(table)} (${sql.join(names)}) values (${sql.join(Object.values(values))})
    returning id`.execute(ashlar.app.services.database.db);
  return rows[0]?.id ?? 0;
}

const times = () => ({ created_at: new Date(), updated_at: new Date() });
const ours = () => ({ iid: ++iid, project_id: projectId, title: 'Arch', ...times() });

const of = (action: string, target_type: string | null = null, target_id: number | null = null) =>
  insert('activity_events', {
    project_id: projectId,
    author_id: ROOT,
    action,
    target_type,
    target_id,
    created_at: new Date(),
  });
const issue = (given: Record<string, unknown> = {}) =>
  insert('issues', { ...ours(), author_id: ROOT, relative_position: iid, ...given });
const onIssue = async (given: Record<string, unknown> = {}, action = 'closed') =>
  of(action, 'Issue', await issue({ ...given }));
const note = async (on: Record<string, unknown>, type = 'Note') => {
  const told = { author_id: ROOT, body: 'Well', discussion_id: 'd', project_id: projectId };
  return of('commented', type, await insert('notes', { ...told, ...times(), ...on }));
};
const snippet = (visibility: number) =>
  insert('snippets', {
    project_id: projectId,
    author_id: ROOT,
    title: 'Arch',
    visibility,
    repository_storage: 'default',
    ...times(),
  });
const assigned = async () => {
  const { db } = ashlar.app.services.database;
  const issue_id = await issue({ confidential: true });
  await db.insertInto('issue_assignees').values({ issue_id, user_id: caller.id }).execute();
  return issue_id;
};
const epic = () =>
  insert('epics', {
    iid: ++iid,
    namespace_id: groupId,
    title: 'Arch',
    author_id: ROOT,
    color: '#ffffff',
    relative_position: iid,
    ...times(),
  });
const mergeRequest = (given: Record<string, unknown> = {}) => {
  const branches = { source_branch: `topic-${iid}`, target_branch: 'main' };
  const made = { author_id: ROOT, draft: false, source_project_id: projectId };
  return insert('merge_requests', { ...ours(), ...branches, ...made, ...given });
};
const alert = () =>
  insert('alerts', { ...ours(), kind: 'http', severity: 'high', started_at: new Date(), payload: '{}' });
const wikiPage = () =>
  insert('wiki_pages', { project_id: projectId, slug: `p${++iid}`, title: 'Arch', created_at: new Date() });
const onCommit = { commit_sha: 'a'.repeat(40) };

/** The event, with the abilities that are needed and enough; undefined where the event is always hidden. */
const cases: readonly [string, () => Promise<number>, readonly ProjectAbility[] | undefined][] = [
  ['a push', () => of('pushed'), ['read_code']],
  ['the creation of the project', () => of('created'), []],
  ['somebody joins', () => of('joined'), []],
  ['somebody leaves', () => of('left'), []],
  ['a membership expires', () => of('expired'), []],
  ['something unknown', () => of('danced'), undefined],
  ['something on a type unknown', () => of('created', 'Tree'), undefined],
  ['an issue', () => onIssue(), ['read_issues']],
  ['an issue that begins', () => onIssue({}, 'created'), ['read_issues']],
  ['an issue that is gone', () => of('closed', 'Issue', GONE), undefined],
  ['an issue that is elsewhere', () => onIssue({ project_id: elsewhere }), undefined],
  [
    'a confidential issue',
    () => onIssue({ confidential: true }),
    ['read_issues', 'read_confidential_issues'],
  ],
  [
    'a confidential issue of the caller',
    () => onIssue({ confidential: true, author_id: caller.id }),
    ['read_issues'],
  ],
  [
    'a confidential issue for the caller',
    async () => of('closed', 'Issue', await assigned()),
    ['read_issues'],
  ],
  [
    'a merge request',
    async () => of('merged', 'MergeRequest', await mergeRequest()),
    ['read_merge_requests'],
  ],
  ['a merge request that is gone', () => of('merged', 'MergeRequest', GONE), undefined],
  [
    'a merge request that is elsewhere',
    async () => of('approved', 'MergeRequest', await mergeRequest({ project_id: elsewhere })),
    undefined,
  ],
  ['a note that is gone', () => of('commented', 'Note', GONE), undefined],
  ['a note on an issue', async () => note({ issue_id: await issue() }), ['read_issues']],
  ['a note in a thread', async () => note({ issue_id: await issue() }, 'DiscussionNote'), ['read_issues']],
  ['a note on an alert', async () => note({ alert_id: await alert() }), ['read_alerts']],
  [
    'a note on a merge request',
    async () => note({ merge_request_id: await mergeRequest() }, 'DiffNote'),
    ['read_merge_requests'],
  ],
  [
    'an internal note on a merge request',
    async () => note({ merge_request_id: await mergeRequest(), internal: true }),
    ['read_merge_requests', 'read_internal_notes'],
  ],
  [
    'a note on a merge request that is elsewhere',
    async () => note({ merge_request_id: await mergeRequest({ project_id: elsewhere }) }),
    undefined,
  ],
  ['a note on a line', () => note(onCommit, 'DiffNote'), ['read_code']],
  [
    'a note on an issue that is elsewhere',
    async () => note({ issue_id: await issue({ project_id: elsewhere }) }),
    undefined,
  ],
  [
    'a note on a confidential issue',
    async () => note({ issue_id: await issue({ confidential: true }) }),
    ['read_issues', 'read_confidential_issues'],
  ],
  [
    'an internal note',
    async () => note({ issue_id: await issue(), internal: true }),
    ['read_issues', 'read_internal_notes'],
  ],
  ['a note on a commit', () => note(onCommit), ['read_code']],
  [
    'an internal note on a commit',
    () => note({ ...onCommit, internal: true }),
    ['read_code', 'read_internal_notes'],
  ],
  ['a note on an epic', async () => note({ epic_id: await epic() }), undefined],
  [
    'a note on a public snippet',
    async () => note({ snippet_id: await snippet(PUBLIC) }),
    ['read_project_snippets'],
  ],
  [
    'a milestone',
    async () => of('created', 'Milestone', await insert('milestones', ours())),
    ['read_planning'],
  ],
  ['a milestone that is destroyed', () => of('destroyed', 'Milestone', GONE), ['read_planning']],
  ['a milestone that is gone', () => of('closed', 'Milestone', GONE), undefined],
  ['a wiki page', async () => of('updated', 'WikiPage::Meta', await wikiPage()), ['read_wiki']],
  ['a wiki page that is destroyed', () => of('destroyed', 'WikiPage::Meta', GONE), ['read_wiki']],
  ['a wiki page that is gone', () => of('created', 'WikiPage::Meta', GONE), undefined],
];

const everything: readonly ProjectAbility[] = [
  'read_code',
  'read_issues',
  'read_confidential_issues',
  'read_internal_notes',
  'read_merge_requests',
  'read_project_snippets',
  'read_planning',
  'read_wiki',
  'read_alerts',
];

/** Whether a caller with these abilities sees the event. */
async function sees(id: number, may: readonly ProjectAbility[], who: Caller = caller, role: Role = GUEST) {
  const { services } = ashlar.app;
  const project = { role, may: (ability: ProjectAbility) => may.includes(ability) };
  const { rows } = await sql`
    with ${callerCte(who)}, places as (select ${projectId}::bigint as id, ${seenOf(services, project, who)})
    select e.id from activity_events e join places v on v.id = e.project_id
    where e.id = ${id} and ${visibleEvents(services, who)}`.execute(services.database.db);
  return rows.length > 0;
}

test.each(cases)('%s: what it takes to see it', async (_name, make, needed) => {
  const id = await make();
  expect(await sees(id, everything)).toBe(needed !== undefined);
  if (!needed) return;
  expect(await sees(id, needed)).toBe(true);
  for (const missing of needed)
    expect([
      missing,
      await sees(
        id,
        everything.filter((each) => each !== missing),
      ),
    ]).toEqual([missing, false]);
});

describe('a note on a snippet', () => {
  test.each([
    [PRIVATE, GUEST, 'a member', true],
    [PRIVATE, NO_ACCESS, 'a stranger', false],
    [PRIVATE, NO_ACCESS, 'nobody', false],
    [PUBLIC, NO_ACCESS, 'nobody', true],
  ] as const)('of visibility %d, with the role %d: %s', async (visibility, role, who, seen) => {
    const id = await note({ snippet_id: await snippet(visibility) });
    expect(await sees(id, ['read_project_snippets'], who === 'nobody' ? undefined : caller, role)).toBe(seen);
  });
});

test('nobody is the author or assignee of a confidential issue', async () => {
  expect(await sees(await onIssue({ confidential: true }), ['read_issues'], undefined)).toBe(false);
});
