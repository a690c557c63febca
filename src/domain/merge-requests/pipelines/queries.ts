/** Reads the pipelines of merge requests: those made for them, and those of their source branches. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import type { PipelineRow } from '../../ci/index.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';

/** One page, in these projects alone: those made for it first, each the newest first. */
export function selectPipelinesOf(
  db: Db,
  { id, source_project_id, source_branch, head_sha }: MergeRequestRow,
  projectIds: readonly number[],
  page: PageRequest,
): Promise<Page<PipelineRow>> {
  const query = db
    .selectFrom('pipelines')
    .selectAll('pipelines')
    .where('pipelines.project_id', 'in', projectIds)
    .where((eb) =>
      eb.or([
        eb('pipelines.merge_request_id', '=', id),
        eb.and([
          eb('pipelines.project_id', '=', source_project_id),
          eb('pipelines.ref', '=', source_branch),
          eb('pipelines.tag', '=', false),
          eb('pipelines.source', 'not in', ['merge_request_event', 'parent_pipeline']),
          eb.or([
            eb('pipelines.sha', '=', head_sha),
            eb('pipelines.sha', 'in', (of) =>
              of.selectFrom('merge_request_commits').select('sha').where('merge_request_id', '=', id),
            ),
          ]),
        ]),
      ]),
    );
  return selectPage(
    db,
    query,
    page,
    { by: 'is_own', sort: 'desc' },
    { is_own: `pipelines.source = 'merge_request_event'`, id: 'pipelines.id' },
  );
}

/** References in full to what is open from the branch, the newest first. */
export async function selectOpenFrom(
  db: Db,
  sourceProjectId: number,
  sourceBranch: string,
  most: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('merge_requests as m')
    .innerJoin('projects as p', 'p.id', 'm.project_id')
    .innerJoin('namespaces as n', 'n.id', 'p.namespace_id')
    .select(sql<string>`n.full_path || '/' || p.path || '!' || m.iid`.as('reference'))
    .where('m.state', '=', 'opened')
    .where('m.source_project_id', '=', sourceProjectId)
    .where('m.source_branch', '=', sourceBranch)
    .orderBy('m.id', 'desc')
    .limit(most)
    .execute();
  return rows.map(({ reference }) => reference);
}
