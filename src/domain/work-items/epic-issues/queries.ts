/** The issues of epics. */

import { sql } from 'kysely';
import type { Caller } from '../../../kernel/actor.ts';
import type { Db } from '../../../platform/db/database.ts';
import { offsetPage, type Page, type PageRequest } from '../../../platform/pagination/page.ts';
import type { IssueRow } from '../issues/records/issue-rows.ts';
import { visibleIssues } from '../issues/records/visibility-queries.ts';

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
  const seen = sql`epic_issues l join issues i on i.id = l.issue_id join listed_projects v on v.id = i.project_id
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
