/** The issues of epics. */

import { type RawBuilder, sql } from 'kysely';
import type { AuthorizedGroup } from '../../../kernel/access/find.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import type { Db } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/failure.ts';
import { offsetPage, type Page, type PageRequest } from '../../../platform/pagination/page.ts';
import type { EpicRow } from '../epics/records/epic-rows.ts';
import { seesEpic } from '../epics/records/visibility-queries.ts';
import { type AssignedRow, isAssigned, type Reading, reveal } from '../issues/changes/queries.ts';
import type { IssueRow } from '../issues/records/issue-rows.ts';
import { visibleIssues } from '../issues/records/visibility-queries.ts';
import type { IssueInProject } from '../issues/relations/link-actions.ts';

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

type GroupReading = Reading & { subject: AuthorizedGroup };

type LinkedRow = AssignedRow & { epic: EpicRow; link: Link | null };

const timeOf = (text: Date | null): Date | null => text && new Date(text);

/** The epic of the group by its number, and an issue with its project and its place in its epic. */
type Linked = IssueInProject & { epic: EpicRow; link: Link | null };

/** 404 unless the caller sees both. */
async function findLinked(
  reading: GroupReading,
  iid: number,
  condition: RawBuilder<unknown>,
): Promise<Linked> {
  const { rows } = await sql<LinkedRow>`
    select i.*, ${isAssigned(reading.actor)}, to_jsonb(l) as link, to_jsonb(e) as epic
    from epics e cross join issues i left join epic_issues l on l.issue_id = i.id
    where e.namespace_id = ${reading.subject.id} and e.iid = ${iid} and ${condition}`.execute(reading.db);
  const { link, epic, ...row } = found(rows[0]);
  if (!seesEpic(reading.subject, epic)) throw notFound();
  const { created_at, updated_at, last_edited_at, closed_at } = epic;
  // A time is a text in JSON.
  const times = { created_at: new Date(created_at), updated_at: new Date(updated_at) };
  const dated = { ...epic, ...times, last_edited_at: timeOf(last_edited_at), closed_at: timeOf(closed_at) };
  return { epic: dated, link, ...(await reveal(reading, undefined, row)) };
}

type Named = { epic_iid: number; issue_id: number };

export const findIssue = (reading: GroupReading, { epic_iid, issue_id }: Named) =>
  findLinked(reading, epic_iid, sql`i.id = ${issue_id}`);

/** The issue of the epic by the id of its place. */
export async function findIssueOf(
  reading: GroupReading,
  { epic_iid, issue_id }: Named,
): Promise<Linked & { link: Link }> {
  const linked = await findLinked(reading, epic_iid, sql`l.epic_id = e.id and l.id = ${issue_id}`);
  return { ...linked, link: found(linked.link ?? undefined) };
}
