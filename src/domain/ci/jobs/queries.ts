/** Reads jobs of a project, of a pipeline. */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Db } from '../../../platform/db/database.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import type { Status } from '../processing/status.ts';
import type { JobArtifact } from './schema.ts';

/** What runs, or starts what does: other programs' statuses are in lists of their own. */
type JobKind = 'job' | 'bridge';

const jobsOf = (db: Db, project: Pick<AuthorizedProject, 'id'>, kind: JobKind) =>
  db
    .selectFrom('ci_jobs')
    .innerJoin('pipelines', 'pipelines.id', 'ci_jobs.pipeline_id')
    .selectAll('ci_jobs')
    .select(
      sql<JobArtifact[]>`coalesce((
        select json_agg(json_build_object('file_type', a.file_type, 'size', a.size, 'filename', a.filename,
          'file_format', a.file_format) order by a.id)
        from ci_artifacts a where a.job_id = ci_jobs.id), '[]')`.as('artifacts'),
    )
    .select([
      'pipelines.iid as pipeline_iid',
      'pipelines.sha',
      'pipelines.ref',
      'pipelines.tag',
      'pipelines.source',
      'pipelines.status as pipeline_status',
      'pipelines.created_at as pipeline_created_at',
      'pipelines.updated_at as pipeline_updated_at',
    ])
    .where('ci_jobs.project_id', '=', project.id)
    .where('ci_jobs.kind', '=', kind);

export type JobDetails = NonNullable<Awaited<ReturnType<typeof selectJob>>>;

type JobFilter = {
  scope?: readonly Status[] | undefined;
  ref?: string | undefined;
  pipeline?: number;
  /** With those that another took the place of. */
  retried?: boolean | undefined;
};

/** One page, the newest first. */
export function selectJobs(
  db: Db,
  project: AuthorizedProject,
  kind: JobKind,
  filter: JobFilter,
  page: PageRequest,
): Promise<Page<JobDetails>> {
  let query = jobsOf(db, project, kind);
  const { scope, ref, pipeline, retried } = filter;
  if (scope !== undefined) query = query.where('ci_jobs.status', 'in', scope.length > 0 ? scope : ['']);
  if (ref !== undefined) query = query.where('pipelines.ref', '=', ref);
  if (pipeline !== undefined) query = query.where('ci_jobs.pipeline_id', '=', pipeline);
  if (!retried) query = query.where('ci_jobs.retried', '=', false);
  return selectPage(db, query, page, { by: 'id', sort: 'desc' }, { id: 'ci_jobs.id' });
}

export const selectJob = (
  db: Db,
  project: Pick<AuthorizedProject, 'id'>,
  id: number,
  kind: JobKind = 'job',
) => jobsOf(db, project, kind).where('ci_jobs.id', '=', id).executeTakeFirst();

/** The jobs of these ids, in any order. */
export const selectJobsOf = (
  db: Db,
  project: Pick<AuthorizedProject, 'id'>,
  ids: readonly number[],
): Promise<JobDetails[]> => jobsOf(db, project, 'job').where('ci_jobs.id', 'in', ids).execute();
