/** Statements of what an epic's record shows: dates, parents and groups. */

import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../../../../kernel/actor.ts';
import { userBasicColumns } from '../../../../kernel/users/records.ts';
import type { Db } from '../../../../platform/db/database.ts';
import { type DatedEpic, datesOf, type EpicDates } from './epic-dates.ts';
import type { EpicRow } from './epic-rows.ts';
import { visibleEpics } from './visibility-queries.ts';

/** More levels than an epic tree can have. */
const MAX_DEPTH = 10;

/** The dates of the epics, by id, in one statement that reads their descendants and milestones. */
export async function epicDates(db: Db, ids: readonly number[]): Promise<Map<number, EpicDates>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<DatedEpic>`
    with recursive below(id, parent_id, start_date_is_fixed, start_date_fixed, due_date_is_fixed, due_date_fixed, level) as (
      select id, parent_id, start_date_is_fixed, start_date_fixed, due_date_is_fixed, due_date_fixed, 1
      from epics where id = any(${[...ids]}::bigint[])
      union
      select e.id, e.parent_id, e.start_date_is_fixed, e.start_date_fixed, e.due_date_is_fixed, e.due_date_fixed, b.level + 1
      from below b join epics e on e.parent_id = b.id where b.level < ${sql.lit(MAX_DEPTH)}),
    tree as (select distinct id, parent_id, start_date_is_fixed, start_date_fixed, due_date_is_fixed, due_date_fixed from below)
    select t.*, m.milestone_start, m.milestone_due from tree t left join lateral (
      select min(m.start_date) as milestone_start, max(m.due_date) as milestone_due
      from epic_issues l join issues i on i.id = l.issue_id join milestones m on m.id = i.milestone_id
      where l.epic_id = t.id) m on true`.execute(db);
  return datesOf(rows);
}

export type Parent = { id: number; iid: number; namespace_id: number };

/** The parents that the reader sees: the others are not named. */
export async function parentsOf(
  db: Db,
  actor: Caller,
  rows: readonly EpicRow[],
): Promise<Map<number, Parent>> {
  const ids = [...new Set(rows.flatMap((row) => row.parent_id ?? []))];
  if (ids.length === 0) return new Map();
  const parents = await db
    .selectFrom('epics')
    .select(['id', 'iid', 'namespace_id'])
    .where('id', 'in', ids)
    .where(visibleEpics(actor))
    .execute();
  return new Map(parents.map((parent) => [parent.id, parent]));
}

export async function groupPathsOf(db: Db, rows: readonly EpicRow[]): Promise<Map<number, string>> {
  const ids = [...new Set(rows.map((row) => row.namespace_id))];
  const groups = await db
    .selectFrom('namespaces')
    .select(['id', 'full_path'])
    .where('id', 'in', ids)
    .execute();
  return new Map(groups.map((group) => [group.id, group.full_path]));
}

/** Authors, assignees, commenters and mentioned users, internal notes aside, as rows of target and user_id. */
export const epicParticipants = (ids: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    select id as target, author_id as user_id from epics where id = any(${ids})
    union select epic_id, author_id from notes where epic_id = any(${ids}) and system_action is null and not internal
    union select t.epic_id, t.user_id from todos t left join notes n on n.id = t.note_id
      where t.epic_id = any(${ids}) and t.action in ('mentioned', 'directly_addressed') and n.internal is not true`;

export const selectAuthors = (db: Db, ids: readonly number[]) =>
  db.selectFrom('users').select(userBasicColumns).where('id', 'in', ids).execute();
