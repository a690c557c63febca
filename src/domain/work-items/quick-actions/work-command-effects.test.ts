/** What quick actions ask for is carried out by who may still do it: their rights may have gone since it was understood. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { insertIssue } from '../../../../test/support/issues.ts';
import { makeGroup, makeMember, makeProject, makeUser } from '../../../../test/support/rows.ts';
import { authorizeProject } from '../../../kernel/access/find.ts';
import { toActor } from '../../../kernel/actor.ts';
import { findIssue } from '../issues/records/find-queries.ts';
import { issueNoteable } from '../issues/records/issue-noteable.ts';
import { applyEffects } from './work-command-effects.ts';
import type { MoveAction } from './work-command-terms.ts';

const ashlar = useApp();

test.each<[what: string, role: number, there: number, gone: boolean]>([
  ['promote', 15, 0, true],
  ['promote', 10, 0, false],
  ['promote', 0, 0, false],
  ['move', 10, 15, true],
  ['move', 10, 10, false],
  ['move', 10, 0, false],
  ['clone', 10, 15, true],
  ['clone', 10, 0, false],
])('%s, with the role %i in the group and %i in the other project', async (what, role, there, gone) => {
  const { services } = ashlar.app;
  const { db, points, sql } = services.database;
  const user = await makeUser(ashlar);
  const group = await makeGroup(ashlar, { visibility: 20 });
  const project = await makeProject(ashlar, { of: group });
  const other = await makeProject(ashlar, { of: await makeGroup(ashlar) });
  await makeMember(ashlar, { project_id: project.id }, user, 15);
  if (role > 0) await makeMember(ashlar, { namespace_id: group.id }, user, role);
  if (there > 0) await makeMember(ashlar, { project_id: other.id }, user, there);
  const { iid } = await insertIssue(ashlar, { project_id: project.id, author_id: user.id });
  const [columns] = await sql`select * from users where id = ${user.id}`;
  const actor = toActor(columns as Parameters<typeof toActor>[0], { via: 'password' });
  const home = await authorizeProject(points, actor, 'read_issues', project.id);
  const noteable = issueNoteable(home, await findIssue(db, home, actor, iid));
  const effects = {
    promote: { do: 'promote', leaves: true },
    move: { do: 'move', projectId: other.id, leaves: true },
    clone: { do: 'clone', projectId: other.id, withNotes: false, leaves: true },
  } as Record<string, MoveAction>;
  await applyEffects({ db, services, actor }, noteable, [effects[what] as MoveAction]);
  const [row] = await sql`
    select (select count(*) from epics where namespace_id = ${group.id})
      + (select count(*) from issues where project_id = ${other.id}) as made`;
  expect(Number(row?.made)).toBe(gone ? 1 : 0);
});
