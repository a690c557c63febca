/** Who is reminded of something that they are called to: whoever reads it (facts: Roles and visibility). */
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { insertIssue } from '../../../../test/support/issues.ts';
import {
  type Made,
  type MadeUser,
  makeGroup,
  makeMember,
  makeProject,
  makeUser,
} from '../../../../test/support/rows.ts';
import { PRIVATE, PUBLIC } from '../../../kernel/policy/roles.ts';
import { alertKind } from '../../alerts/alerts/alert-noteable.ts';
import { commitKind } from '../../repositories/commits/commit-noteable.ts';
import { snippetKind } from '../../snippets/snippet-noteable.ts';
import { epicKind } from '../../work-items/epics/records/epic-noteable.ts';
import { issueKind } from '../../work-items/issues/records/issue-noteable.ts';
import type { Noteable } from '../noteables/noteables.ts';
import { readersAmong } from './mentions.ts';
import { usersByIds } from './queries.ts';

const ashlar = useApp();
const GUEST = 10;
const PLANNER = 15;
const REPORTER = 20;
const DEVELOPER = 30;
const roles = { guest: GUEST, planner: PLANNER, reporter: REPORTER, developer: DEVELOPER };

let people: Record<'stranger' | keyof typeof roles | 'auditor' | 'admin', MadeUser>;
let places: Record<'closed' | 'open', { group: Made; project: Made; issue: number }>;

beforeAll(async () => {
  const { sql } = ashlar.app.services.database;
  const user = () => makeUser(ashlar);
  people = {
    stranger: await user(),
    guest: await user(),
    planner: await user(),
    reporter: await user(),
    developer: await user(),
    auditor: await user(),
    admin: await user(),
  };
  await sql`update users set auditor = true where id = ${people.auditor.id}`;
  await sql`update users set admin = true where id = ${people.admin.id}`;
  const place = async (visibility: number, settings: Record<string, string>) => {
    const group = await makeGroup(ashlar, { visibility });
    const project = await makeProject(ashlar, { of: group, visibility });
    await sql`update projects set settings = settings || ${sql.json(settings)} where id = ${project.id}`;
    for (const [name, role] of Object.entries(roles))
      await makeMember(ashlar, { namespace_id: group.id }, people[name as keyof typeof roles], role);
    const assigned = { assignee_ids: [people.guest.id], confidential: true };
    const { id } = await insertIssue(ashlar, { project_id: project.id, author_id: 1, ...assigned });
    return { group, project, issue: id };
  };
  const off = { issues_access_level: 'private', snippets_access_level: 'private' };
  places = {
    closed: await place(PRIVATE, {}),
    open: await place(PUBLIC, { ...off, repository_access_level: 'private' }),
  };
});

const everyMember = 'guest planner reporter developer auditor admin';
const team = 'planner reporter developer auditor admin';

describe.each(['closed', 'open'] as const)('in a place that is %s, with its parts for members', (where) => {
  test.each<[what: string, about: Partial<Noteable>, internal: boolean, readers: string]>([
    ['an issue', { kind: issueKind }, false, everyMember],
    ['an internal note on an issue', { kind: issueKind }, true, team],
    [
      'a confidential issue, one of them assigned',
      { kind: issueKind, confidential: true },
      false,
      everyMember,
    ],
    ['a confidential issue of nobody’s', { kind: issueKind, confidential: true, id: 0 }, false, team],
    ['a snippet', { kind: snippetKind, visibility: PUBLIC }, false, everyMember],
    ['a private snippet', { kind: snippetKind, visibility: PRIVATE }, false, everyMember],
    ['a commit', { kind: commitKind, sha: 'a'.repeat(40) }, false, 'reporter developer auditor admin'],
    ['an alert', { kind: alertKind }, false, 'developer auditor admin'],
    ['an epic', { kind: epicKind }, false, where === 'open' ? `stranger ${everyMember}` : everyMember],
    ['an internal note on an epic', { kind: epicKind }, true, team],
    ['a confidential epic', { kind: epicKind, confidential: true }, false, team],
  ])('%s', async (_what, about, internal, readers) => {
    const { db, points } = ashlar.app.services.database;
    const { group, project, issue } = places[where];
    const home = about.kind === epicKind ? { group } : { project };
    const noteable = {
      id: issue,
      authorId: 1,
      confidential: false,
      ...home,
      ...about,
    } as unknown as Noteable;
    const named = await usersByIds(
      db,
      Object.values(people).map(({ id }) => id),
    );
    const found = await readersAmong(db, points, noteable, named, internal);
    const names = Object.entries(people).flatMap(([name, { id }]) => (found.has(id) ? [name] : []));
    expect(names.join(' ')).toBe(readers);
  });
});

test('a private snippet of an open project is for its members', async () => {
  const { db, points } = ashlar.app.services.database;
  const project = await makeProject(ashlar, { of: places.closed.group, visibility: PUBLIC });
  const found = async (visibility: number) => {
    const noteable = { kind: snippetKind, id: 1, visibility, project } as unknown as Noteable;
    const named = await usersByIds(db, [people.stranger.id, people.guest.id]);
    return (await readersAmong(db, points, noteable, named)).size;
  };
  expect([await found(PRIVATE), await found(PUBLIC)]).toEqual([1, 2]);
});
