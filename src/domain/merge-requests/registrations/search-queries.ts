/** Merge requests found by search. */
import { sql } from 'kysely';
import type { Page } from '../../../platform/pagination/page.ts';
import { inContainer, matches, numberOf, type SearchRequest, searchPage } from '../../search/index.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { visibleMergeRequests } from '../records/visibility-queries.ts';

/** By words in the title or the description, or by number. */
export function searchMergeRequests(request: SearchRequest): Promise<Page<MergeRequestRow>> {
  const { actor, search, state = 'all' } = request;
  const visible = visibleMergeRequests(actor, inContainer(request));
  const number = numberOf(search, '!');
  const conditions = [
    number === undefined ? matches(['i.title', 'i.description'], search) : sql`i.iid = ${number}`,
    visible.condition,
    ...(state === 'all' ? [] : [sql`i.state = ${state}`]),
  ];
  return searchPage(request, {
    ctes: sql`with ${visible.ctes}`,
    columns: sql`i.*`,
    from: sql`merge_requests i join listed_projects v on v.id = i.project_id where ${sql.join(conditions, sql` and `)}`,
    order: 'i.created_at desc, i.id desc',
  });
}
