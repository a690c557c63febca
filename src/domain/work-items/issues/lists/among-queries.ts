/** Lists of issues around something else. */
import { type RawBuilder, sql } from 'kysely';
import type { Page, PageRequest } from '../../../../platform/pagination/page.ts';
import { type IssueReading, type IssueRecord, presentIssues } from '../records/issue-records.ts';
import { issueLists } from '../records/list-queries.ts';
import { visibleIssues } from '../records/visibility-queries.ts';

/** One page of the issues whose ids a statement selects, as far as the caller sees them, the oldest first. */
export async function issuesAmong(
  request: IssueReading & { page: PageRequest },
  ids: RawBuilder<unknown>,
): Promise<Page<IssueRecord>> {
  const { db, actor, page } = request;
  const visible = visibleIssues(
    actor,
    sql`p.id in (select found.project_id from issues found where found.id in (${ids}))`,
  );
  const among = {
    where: sql<boolean>`i.id in (${ids})`,
    seed: (tail: RawBuilder<unknown>) => sql`select id from (${ids}) found(id) ${tail}`,
  };
  const query = { visible, filter: [among], by: 'created_at', sort: 'asc' } as const;
  const listed = await issueLists.page(db, query, page);
  return { ...listed, items: await presentIssues(request, listed.items, { across: true }) };
}
