/** The quick actions of a text are of one transaction with it: a request that is refused has changed nothing. */
import { beforeAll, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf } from '../../../../test/support/factories.ts';
import { insertIssue, type MadeIssue } from '../../../../test/support/issues.ts';
import { type MadeUser, makeGroup, makeProject, makeUser } from '../../../../test/support/rows.ts';

/** More time than was spent cannot be removed: found out when the rest is written already. */
const REFUSED = '/spend -1h';

const ashlar = useApp();
let owner: MadeUser;
let project: { id: number };
let issue: MadeIssue;

beforeAll(async () => {
  owner = await makeUser(ashlar);
  project = await makeProject(ashlar, { of: await makeGroup(ashlar, { owner }) });
  issue = await insertIssue(ashlar, { project_id: project.id, author_id: owner.id, title: 'Kept' });
});

/** The project's issues, notes, facts and counters. */
async function written(): Promise<unknown> {
  const { sql } = ashlar.app.services.database;
  const [row] = await sql`
    select (select jsonb_agg(to_jsonb(i) order by i.id) from issues i where project_id = ${project.id}) as issues,
      (select issues from project_counters where project_id = ${project.id}) as last,
      (select count(*) from notes where project_id = ${project.id}) as notes,
      (select count(*) from activity_events where project_id = ${project.id}) as events,
      (select count(*) from award_emoji) as awards, (select count(*) from labels) as labels`;
  return row;
}

const call = (line: string, body: Record<string, unknown>) => ashlar.as(owner.token)(line, { body });

test('a refused quick action leaves nothing of a new issue, of a change, or of a comment', async () => {
  const issues = `/projects/${project.id}/issues`;
  const before = await written();
  const description = `Text\n/label ~fresh\n/award :tada:\n/close\n${REFUSED}`;
  const requests: [string, Record<string, unknown>][] = [
    [`POST ${issues}`, { title: 'New', description, labels: 'of-a-new-name' }],
    [`PUT ${issues}/${issue.iid}`, { title: 'Other', description }],
    [`POST ${issues}/${issue.iid}/notes`, { body: description }],
    [`POST ${issues}/${issue.iid}/notes`, { body: `/close\n${REFUSED}` }],
  ];
  for (const [line, body] of requests) {
    const { status, text } = await call(line, body);
    expect([line, status, text]).toEqual([
      line,
      400,
      expect.stringContaining('exceeds the total time spent'),
    ]);
    expect(await written()).toEqual(before);
  }
});

test('a new issue is shown as its quick actions left it', async () => {
  const description = 'Text\n/award :thumbsup:\n/spend 1h\n/close';
  const made = bodyOf(
    await call(`POST /projects/${project.id}/issues`, { title: 'New', description, labels: 'stone' }),
    201,
  );
  expect(made).toMatchObject({
    state: 'closed',
    closed_by: { id: owner.id },
    upvotes: 1,
    labels: ['stone'],
    description: 'Text',
    time_stats: { total_time_spent: 3_600 },
  });
});
