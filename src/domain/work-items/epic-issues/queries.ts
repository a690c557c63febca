/** The issues of epics. */

import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import type { Db } from '../../../platform/db/database.ts';
import { offsetPage, type Page, type PageRequest } from '../../../platform/pagination/page.ts';
import { type AssignedRow, isAssigned, type Reading, reveal } from '../issues/changes/queries.ts';
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

/** The place of an issue in an epic. */
export type Link = { id: number; epic_id: number; issue_id: number; relative_position: number };

export const selectLink = (db: Db, issueId: number): Promise<Link | undefined> =>
  db.selectFrom('epic_issues').selectAll().where('issue_id', '=', issueId).executeTakeFirst();

type LinkedRow = AssignedRow & { link: Link | null };

/** An issue with its project, and its place where it is in an epic; 404 unless the caller sees it. */
async function findLinked(reading: Reading, condition: RawBuilder<unknown>) {
  const { rows } = await sql<LinkedRow>`
    select i.*, ${isAssigned(reading.actor)}, to_jsonb(l) as link
    from issues i left join epic_issues l on l.issue_id = i.id where ${condition}`.execute(reading.db);
  const { link, ...row } = found(rows[0]);
  return { link, ...(await reveal(reading, undefined, row)) };
}

export const findIssue = (reading: Reading, id: number) => findLinked(reading, sql`i.id = ${id}`);

/** The issue of the epic by the id of its place. */
export async function findIssueOf(reading: Reading, epicId: number, id: number) {
  const { link, ...issue } = await findLinked(reading, sql`l.epic_id = ${epicId} and l.id = ${id}`);
  return { ...issue, link: found(link ?? undefined) };
}
