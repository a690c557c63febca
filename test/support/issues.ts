/** Issues for tests, written as rows: with assignees, labels by name, and given fields. */
import type { Insertable } from 'kysely';
import type { IssuesTable } from '../../src/platform/db/rows.ts';
import type { TestApp } from './app.ts';

export type MadeIssue = { id: number; iid: number; project_id: number };

const db = (app: TestApp) => app.app.services.database.db;
const stamps = () => ({ created_at: new Date(), updated_at: new Date() });

type Given = Partial<Insertable<IssuesTable>> & {
  project_id: number;
  author_id: number;
  assignee_ids?: readonly number[];
  labels?: readonly string[];
};

/** An open issue with the project's next number. */
export async function insertIssue(app: TestApp, given: Given): Promise<MadeIssue> {
  const { assignee_ids = [], labels = [], ...row } = given;
  const { project_id } = row;
  const { last } = await db(app)
    .selectFrom('issues')
    .select((select) => select.fn.max('iid').as('last'))
    .where('project_id', '=', project_id)
    .executeTakeFirstOrThrow();
  const iid = row.iid ?? (last ?? 0) + 1;
  await db(app)
    .insertInto('project_counters')
    .values({ project_id, issues: iid })
    .onConflict((conflict) => conflict.column('project_id').doUpdateSet({ issues: iid }))
    .execute();
  const { id } = await db(app)
    .insertInto('issues')
    .values({ title: `Issue ${iid}`, relative_position: iid * 1_000, ...stamps(), ...row, iid })
    .returning('id')
    .executeTakeFirstOrThrow();
  for (const user_id of assignee_ids)
    await db(app).insertInto('issue_assignees').values({ issue_id: id, user_id }).execute();
  for (const name of labels) {
    const label_id = await insertLabel(app, { project_id, name });
    await db(app).insertInto('label_links').values({ label_id, issue_id: id }).execute();
  }
  return { id, iid, project_id };
}

/** The id of the project's label of this name, made when there is none. */
export async function insertLabel(
  app: TestApp,
  { project_id, name }: { project_id: number; name: string },
): Promise<number> {
  const known = await db(app)
    .selectFrom('labels')
    .select('id')
    .where('project_id', '=', project_id)
    .where('name', '=', name)
    .executeTakeFirst();
  if (known) return known.id;
  const { id } = await db(app)
    .insertInto('labels')
    .values({ project_id, name, color: '#336699', ...stamps() })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** The id of a new milestone of the project; days are `YYYY-MM-DD`. */
export async function insertMilestone(
  app: TestApp,
  given: { project_id: number; title: string; start_date?: string; due_date?: string; state?: string },
): Promise<number> {
  const { count } = await db(app)
    .selectFrom('milestones')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('project_id', '=', given.project_id)
    .executeTakeFirstOrThrow();
  const { id } = await db(app)
    .insertInto('milestones')
    .values({ iid: count + 1, ...given, ...stamps() })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}
