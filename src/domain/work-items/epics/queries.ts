/** Statements of lists about an epic: its children, its issues and related epics. */

import { sql } from 'kysely';
import type { Caller } from '../../../kernel/actor.ts';
import type { Db } from '../../../platform/db/database.ts';
import { offsetPage, type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import type { IssueRow } from '../issues/records/issue-rows.ts';
import { visibleIssues } from '../issues/records/visibility-queries.ts';
import type { EpicRow } from './records/epic-rows.ts';
import { visibleEpics } from './records/visibility-queries.ts';

const columns = { id: 'epics.id', relative_position: 'epics.relative_position' };

/** The children that the reader may read, in their order. */
export const selectChildren = (
  db: Db,
  reader: Caller,
  parentId: number,
  page: PageRequest,
): Promise<Page<EpicRow>> =>
  selectPage(
    db,
    db.selectFrom('epics').selectAll().where('parent_id', '=', parentId).where(visibleEpics(reader)),
    page,
    { by: 'relative_position', sort: 'asc' },
    columns,
  );

export type EpicIssueRow = IssueRow & { epic_issue_id: number; epic_position: number };

/** The epic's issues that the reader may read, in their order, and their number. */
export async function selectIssues(
  db: Db,
  reader: Caller,
  epicId: number,
  page: PageRequest & { kind: 'offset' },
): Promise<Page<EpicIssueRow>> {
  const { ctes, condition } = visibleIssues(
    reader,
    sql`p.id in (select own.project_id from epic_issues l join issues own on own.id = l.issue_id where l.epic_id = ${epicId})`,
  );
  const seen = sql`epic_issues l join issues i on i.id = l.issue_id join issue_projects v on v.id = i.project_id
    where l.epic_id = ${epicId} and ${condition}`;
  const { rows } = await sql<EpicIssueRow>`with ${ctes}
    select i.*, l.id as epic_issue_id, l.relative_position as epic_position from ${seen}
    order by l.relative_position, l.id limit ${page.perPage + 1} offset ${page.offset}`.execute(db);
  return offsetPage(page, rows, async () => {
    const counted = await sql<{ count: number }>`with ${ctes}
      select count(*) as count from (select from ${seen} limit ${page.countLimit + 1}) counted`.execute(db);
    return counted.rows[0]?.count ?? 0;
  });
}

export const selectLink = (
  db: Db,
  epicId: number,
  by: 'id' | 'issue_id',
  value: number,
): Promise<Link | undefined> =>
  db
    .selectFrom('epic_issues')
    .select(['id', 'issue_id', 'relative_position'])
    .where('epic_id', '=', epicId)
    .where(by, '=', value)
    .executeTakeFirst();

export type Link = { id: number; issue_id: number; relative_position: number };

export type LinkRow = {
  id: number;
  source_id: number;
  target_id: number;
  link_type: string;
  created_at: Date;
  updated_at: Date;
};
