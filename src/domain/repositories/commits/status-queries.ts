/** Statuses of commits, and the pipelines that they make up. */
import { type Selectable, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { CommitStatusesTable, ExternalPipelinesTable } from '../../../platform/db/rows.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import { type AuthoredRow, authorColumns } from './author-columns.ts';
import type { StatusListInput } from './status-schema.ts';

export type StatusRow = Selectable<CommitStatusesTable> & AuthoredRow;

export const selectStatuses = (db: Db) =>
  db
    .selectFrom('commit_statuses')
    .innerJoin('users', 'users.id', 'commit_statuses.author_id')
    .selectAll('commit_statuses')
    .select(authorColumns);

/** The stage of other programs' statuses. */
const STAGE = 'external';

/** A page of a commit's statuses. */
export function selectCommitStatuses(
  db: Db,
  project: AuthorizedProject,
  sha: string,
  filter: StatusListInput,
  page: PageRequest,
): Promise<Page<StatusRow>> {
  let query = selectStatuses(db)
    .where('commit_statuses.project_id', '=', project.id)
    .where('commit_statuses.sha', '=', sha);
  if (filter.ref !== undefined) query = query.where('commit_statuses.ref', '=', filter.ref);
  if (filter.name !== undefined) query = query.where('commit_statuses.name', '=', filter.name);
  if (filter.stage !== undefined && filter.stage !== STAGE) query = query.where(sql<boolean>`false`);
  if (filter.pipeline_id !== undefined) query = query.where('pipeline_id', '=', filter.pipeline_id);
  return selectPage(
    db,
    query,
    page,
    { by: filter.order_by ?? 'id', sort: filter.sort ?? 'asc' },
    { id: 'commit_statuses.id', pipeline_id: 'commit_statuses.pipeline_id' },
  );
}

export type PipelineRow = Selectable<ExternalPipelinesTable> & {
  iid: number;
  updated_at: Date;
  statuses: string[];
};

/** The newest pipeline of a commit; its number in the project is its rank among them. */
export const selectLastPipeline = (
  db: Db,
  project: Pick<AuthorizedProject, 'id'>,
  sha: string,
): Promise<PipelineRow | undefined> =>
  db
    .selectFrom('external_pipelines as p')
    .selectAll('p')
    .select([
      sql<number>`(select count(*) from external_pipelines e
        where e.project_id = p.project_id and e.id <= p.id)`.as('iid'),
      sql<Date>`coalesce((select max(s.updated_at) from commit_statuses s where s.pipeline_id = p.id), p.created_at)`.as(
        'updated_at',
      ),
      sql<string[]>`array(select s.status from commit_statuses s where s.pipeline_id = p.id)`.as('statuses'),
    ])
    .where('p.project_id', '=', project.id)
    .where('p.sha', '=', sha)
    .orderBy('p.id', 'desc')
    .limit(1)
    .executeTakeFirst();

/** The project's pipeline of this id. */
export const findPipeline = (db: Db, projectId: number, id: number) =>
  db
    .selectFrom('external_pipelines')
    .selectAll()
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .executeTakeFirst();
