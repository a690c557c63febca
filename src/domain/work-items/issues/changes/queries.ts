/** Statements of the issues that one is linked to. */

import { sql } from 'kysely';
import type { Caller } from '../../../../kernel/actor.ts';
import { type Context, found } from '../../../../kernel/api/endpoint.ts';
import type { Db } from '../../../../platform/db/database.ts';
import { offsetPage, type Page, type PageRequest } from '../../../../platform/pagination/page.ts';
import { findIssueById } from '../records/find-queries.ts';
import type { IssueRow } from '../records/issue-rows.ts';
import { visibleIssues } from '../records/visibility-queries.ts';
import type { IssueLinkRow } from '../relations/link-actions.ts';

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

/** The link of the issue, and the issue at its other end; 404 unless the caller sees both. */
export async function findLink(
  { db, services, actor }: Pick<Context<unknown, unknown, Caller>, 'db' | 'services' | 'actor'>,
  issue: IssueRow,
  id: number,
) {
  const link = found(
    await db
      .selectFrom('issue_links')
      .selectAll()
      .where('id', '=', id)
      .where((or) => or.or([or('source_id', '=', issue.id), or('target_id', '=', issue.id)]))
      .executeTakeFirst(),
  );
  const otherId = link.source_id === issue.id ? link.target_id : link.source_id;
  return { link, other: await findIssueById(db, services.database.points, actor, otherId) };
}
