/** Many members at once take as many statements as one, and each is announced. */
import { beforeAll, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { type Made, makeGroup, makeMember, makeProject } from '../../../../test/support/rows.ts';
import { type Announcement, announceAll } from '../../../kernel/activity/announce-actions.ts';
import { expireMembers } from './expiry-actions.ts';

const ashlar = useApp();
const COUNT = 100;
const statements: string[] = [];
let users: number[] = [];
let group: Made;

beforeAll(async () => {
  const { sql } = ashlar.app.services.database;
  group = await makeGroup(ashlar);
  const rows = await sql<{ id: number }[]>`
    insert into users (username, name, email, projects_limit, can_create_group, confirmed_at, created_at, updated_at)
    select 'many-' || i, 'Many', 'many-' || i || '@example.org', 0, false, now(), now(), now()
    from generate_series(1, ${COUNT + 1}) i returning id`;
  users = rows.map((row) => row.id);
  sql.watch((text) => statements.push(text));
});

/** The number of statements that write the request; others are about the caller, now and then. */
async function statementsOf(work: () => Promise<unknown>): Promise<number> {
  statements.length = 0;
  await work();
  const own = statements.filter((text) => !/access_tokens|rate_limit_windows|update "?users/.test(text));
  return own.filter((text) => /\b(insert into|update|delete from)\b/i.test(text)).length;
}

const announced = async (table: 'activity_events' | 'audit_events', name: string): Promise<number> => {
  const { sql } = ashlar.app.services.database;
  const column = table === 'activity_events' ? 'action' : 'event_name';
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count from ${sql(table)} where ${sql(column)} = ${name}`;
  return row?.count ?? 0;
};

test('adding, importing and expiring', async () => {
  const [small, large, copy] = [
    await makeProject(ashlar, { of: group }),
    await makeProject(ashlar, { of: group }),
    await makeProject(ashlar, { of: group }),
  ];
  const add = (project: Made, ids: number[]) => async () => {
    const body = { user_id: ids.join(','), access_level: 30 };
    expect((await ashlar.root(`POST /projects/${project.id}/members`, { body })).status).toBe(201);
  };
  const one = await statementsOf(add(small, users.slice(COUNT)));
  expect(one).toBeGreaterThan(2);
  expect(await statementsOf(add(large, users.slice(0, COUNT)))).toBe(one);
  expect(await announced('activity_events', 'joined')).toBe(COUNT + 1);
  expect(await announced('audit_events', 'member_created')).toBe(COUNT + 1);

  const imported = () => ashlar.root(`POST /projects/${copy.id}/import_project_members/${large.id}`);
  expect(await statementsOf(imported)).toBe(one);
  expect(await announced('activity_events', 'joined')).toBe(2 * COUNT + 1);

  const { db, sql } = ashlar.app.services.database;
  await sql`update members set expires_at = '2020-01-01' where project_id = ${large.id}`;
  // Removed, and committed with the announcements.
  expect(await statementsOf(() => expireMembers(db))).toBe(2);
  expect(await announced('activity_events', 'expired')).toBe(COUNT);
});

test('inviting by mail', async () => {
  const emails = (count: number, host: string) =>
    Array.from({ length: count }, (_, index) => `invited-${index}@${host}`).join(',');
  const invite = (email: string) => async () => {
    const body = { email, access_level: 30 };
    expect((await ashlar.root(`POST /groups/${group.id}/invitations`, { body })).body.status).toBe('success');
  };
  const one = await statementsOf(invite(emails(1, 'one.example')));
  expect(await statementsOf(invite(emails(90, 'many.example')))).toBe(one);
  expect(await announced('audit_events', 'invitation_created')).toBe(91);
});

test('leaving a group leaves all that is in it', async () => {
  const outer = await makeGroup(ashlar);
  const [user] = users;
  const leaver = { id: user ?? 0 };
  await makeMember(ashlar, { namespace_id: outer.id }, leaver, 30);
  for (let index = 0; index < 20; index++) {
    const project = await makeProject(ashlar, { of: outer });
    await makeMember(ashlar, { project_id: project.id }, leaver, 30);
  }
  const before = await announced('activity_events', 'left');
  const leave = () => ashlar.root(`DELETE /groups/${outer.id}/members/${leaver.id}`);
  expect(await statementsOf(leave)).toBeLessThan(10);
  expect((await announced('activity_events', 'left')) - before).toBe(20);
});

test('more announcements than one statement takes are written all', async () => {
  const { db } = ashlar.app.services.database;
  const announcement: Announcement = {
    audit: { entity: { type: 'Group', id: group.id, path: group.path }, event: 'counted' },
    fact: { name: 'counted', payload: {} },
  };
  const many = Array.from({ length: 2_500 }, () => announcement);
  expect(await statementsOf(() => announceAll(db, many))).toBe(3);
  expect(await announced('audit_events', 'counted')).toBe(2_500);
});
