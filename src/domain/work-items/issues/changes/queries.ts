/** Issues found several at a time: those that one is linked to, and those that a request names. */

import { type RawBuilder, sql } from 'kysely';
import { type AuthorizedProject, authorizeProject } from '../../../../kernel/access/find.ts';
import type { Caller } from '../../../../kernel/actor.ts';
import type { Context } from '../../../../kernel/api/endpoint.ts';
import type { Db } from '../../../../platform/db/database.ts';
import { Failure, notFound } from '../../../../platform/failure.ts';
import { offsetPage, type Page, type PageRequest } from '../../../../platform/pagination/page.ts';
import type { IssueRow } from '../records/issue-rows.ts';
import { seesIssue, visibleIssues } from '../records/visibility-queries.ts';
import type { IssueInProject, IssueLinkRow } from '../relations/link-actions.ts';

type RelatedRow = IssueRow &
  Pick<IssueLinkRow, 'source_id' | 'link_type'> & {
    link_id: number;
    link_created_at: Date;
    link_updated_at: Date;
  };

/** The issues linked with one, as far as the caller sees them, in the order of the links. */
export async function selectRelated(
  db: Db,
  actor: Caller,
  issueId: number,
  page: PageRequest & { kind: 'offset' },
): Promise<Page<RelatedRow>> {
  const linked = sql`select id, source_id, link_type, created_at, updated_at,
    case source_id when ${issueId} then target_id else source_id end as other_id
    from issue_links where source_id = ${issueId} or target_id = ${issueId}`;
  const inTheirProjects = sql`p.id in (select o.project_id from linked k join issues o on o.id = k.other_id)`;
  const { ctes, condition } = visibleIssues(actor, inTheirProjects);
  const from = sql`linked k join issues i on i.id = k.other_id join listed_projects v on v.id = i.project_id where ${condition}`;
  const { rows } = await sql<RelatedRow>`with linked as (${linked}), ${ctes}
    select i.*, k.id as link_id, k.source_id, k.link_type, k.created_at as link_created_at, k.updated_at as link_updated_at
    from ${from} order by k.id limit ${page.perPage + 1} offset ${page.offset}`.execute(db);
  return offsetPage(page, rows, async () => {
    const counted = await sql<{ count: number }>`with linked as (${linked}), ${ctes}
      select count(*) as count from (select from ${from} limit ${page.countLimit + 1}) x`.execute(db);
    return counted.rows[0]?.count ?? 0;
  });
}

export type Reading = Pick<Context<unknown, unknown, Caller>, 'db' | 'services' | 'actor'>;

/** An issue, and whether the caller is assigned to it. */
export type AssignedRow = IssueRow & { is_assigned: boolean };

export const isAssigned = (actor: Caller) => sql<boolean>`exists (
  select from issue_assignees a where a.issue_id = i.id and a.user_id = ${actor?.id ?? 0}) as is_assigned`;

/** The issue with its project, whose receipt is at hand where that is `home`; 404 unless the caller sees it. */
export async function reveal(
  { services, actor }: Reading,
  home: AuthorizedProject | undefined,
  row: AssignedRow | undefined,
): Promise<IssueInProject> {
  if (!row) throw notFound();
  const { is_assigned, ...issue } = row;
  const project =
    home?.id === issue.project_id
      ? home
      : await authorizeProject(services.database.points, actor, 'read_issues', issue.project_id).catch(
          (error) => {
            // A 403 from the project would reveal the issue.
            throw error instanceof Failure && error.kind !== 'unavailable' ? notFound() : error;
          },
        );
  const assigned = is_assigned && actor ? [actor.id] : [];
  if (!project.may('read_issues') || !seesIssue(project, actor, issue, assigned)) throw notFound();
  return { issue, project };
}

const selectIssues = async ({ db, actor }: Reading, condition: RawBuilder<unknown>): Promise<AssignedRow[]> =>
  (await sql<AssignedRow>`select i.*, ${isAssigned(actor)} from issues i where ${condition}`.execute(db))
    .rows;

/** The issues of `home` with these numbers, in their order; 404 unless the caller sees all. */
export async function findIssues(
  reading: Reading,
  home: AuthorizedProject,
  numbers: readonly number[],
): Promise<IssueInProject[]> {
  const rows = await selectIssues(
    reading,
    sql`i.project_id = ${home.id} and i.iid = any(${[...numbers]}::integer[])`,
  );
  const find = (number: number) => rows.find(({ iid }) => iid === number);
  return Promise.all(numbers.map((number) => reveal(reading, home, find(number))));
}

/** The issues of these ids, in their order; 404 unless the caller sees all. */
export async function findIssuesById(
  reading: Reading,
  home: AuthorizedProject,
  ids: readonly number[],
): Promise<IssueInProject[]> {
  const rows = await selectIssues(reading, sql`i.id = any(${[...ids]}::bigint[])`);
  return Promise.all(
    ids.map((id) =>
      reveal(
        reading,
        home,
        rows.find((row) => row.id === id),
      ),
    ),
  );
}

type LinkedRow = AssignedRow & { link: IssueLinkRow };

/** The link of the issue of this number, and the issues at both its ends; 404 unless the caller sees both. */
export async function findLink(
  reading: Reading,
  home: AuthorizedProject,
  { issue_iid, issue_link_id }: { issue_iid: number; issue_link_id: number },
): Promise<{ link: IssueLinkRow; issue: IssueRow; other: IssueInProject }> {
  const { rows } = await sql<LinkedRow>`
    select i.*, ${isAssigned(reading.actor)}, to_jsonb(k) as link
    from issue_links k join issues i on i.id in (k.source_id, k.target_id) where k.id = ${issue_link_id}`.execute(
    reading.db,
  );
  const here = rows.find(({ project_id, iid }) => project_id === home.id && iid === issue_iid);
  const there = rows.find((row) => row !== here);
  if (!here || !there) throw notFound();
  const { link, ...row } = here;
  const { link: _, ...otherRow } = there;
  const { issue } = await reveal(reading, home, row);
  // A time is a text in JSON.
  const times = { created_at: new Date(link.created_at), updated_at: new Date(link.updated_at) };
  return { link: { ...link, ...times }, issue, other: await reveal(reading, home, otherRow) };
}
