/** Statuses of commits, of the pipelines that they are in. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Db } from '../../../platform/db/database.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import { userColumns } from '../pipelines/user-columns.ts';
import type { StatusListInput } from './schema.ts';

export const selectStatuses = (db: Db) =>
  db
    .selectFrom('ci_jobs')
    .innerJoin('pipelines', 'pipelines.id', 'ci_jobs.pipeline_id')
    .innerJoin('users', 'users.id', 'ci_jobs.user_id')
    .selectAll('ci_jobs')
    .select(['pipelines.sha', 'pipelines.ref'])
    .select(userColumns);

export type StatusRow = Awaited<ReturnType<ReturnType<typeof selectStatuses>['executeTakeFirstOrThrow']>>;

/** So many statuses of a pipeline are on its page. */
const MAX_ON_PAGE = 100;

/** The latest statuses of a pipeline, in the order in which they came. */
export const selectStatusesOf = (db: Db, pipelineId: number): Promise<StatusRow[]> =>
  selectStatuses(db)
    .where('pipeline_id', '=', pipelineId)
    .where('ci_jobs.kind', '=', 'status')
    .where('ci_jobs.retried', '=', false)
    .orderBy('ci_jobs.id')
    .limit(MAX_ON_PAGE)
    .execute();

/** A page of a commit's statuses. */
export function selectCommitStatuses(
  db: Db,
  project: AuthorizedProject,
  sha: string,
  filter: StatusListInput,
  page: PageRequest,
): Promise<Page<StatusRow>> {
  let query = selectStatuses(db)
    .where('pipelines.project_id', '=', project.id)
    .where('ci_jobs.kind', '=', 'status')
    .where('pipelines.sha', '=', sha);
  if (filter.ref !== undefined) query = query.where('pipelines.ref', '=', filter.ref);
  if (filter.name !== undefined) query = query.where('ci_jobs.name', '=', filter.name);
  if (filter.stage !== undefined) query = query.where('ci_jobs.stage', '=', filter.stage);
  if (!filter.all) query = query.where('ci_jobs.retried', '=', false);
  if (filter.pipeline_id !== undefined) query = query.where('pipeline_id', '=', filter.pipeline_id);
  return selectPage(
    db,
    query,
    page,
    { by: filter.order_by ?? 'id', sort: filter.sort ?? 'asc' },
    { id: 'ci_jobs.id', pipeline_id: 'ci_jobs.pipeline_id' },
  );
}
