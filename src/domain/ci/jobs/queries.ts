/** Reads jobs of a project, of a pipeline. */
import { type SqlBool, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { CALLER, callerCte, projectLevel, TODAY } from '../../../kernel/access/membership-queries.ts';
import { mayInProjects } from '../../../kernel/access/policy-sql.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { Db } from '../../../platform/db/database.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import type { PipelineRow } from '../processing/process-actions.ts';
import type { Status } from '../processing/status.ts';
import type { JobArtifact } from './schema.ts';

/** What runs, what starts what does, or both: other programs' statuses are in lists of their own. */
type JobKind = 'job' | 'bridge' | 'any';

/** The pipeline that a bridge started, and the path of its project. */
export type Downstream = Pick<
  PipelineRow,
  'id' | 'iid' | 'project_id' | 'sha' | 'ref' | 'status' | 'source'
> & {
  created_at: string;
  updated_at: string;
  path: string;
};

const downstream = sql<Downstream | null>`(
  select jsonb_build_object('id', d.id, 'iid', d.iid, 'project_id', d.project_id, 'sha', d.sha, 'ref', d.ref, 'status', d.status,
    'source', d.source, 'created_at', d.created_at, 'updated_at', d.updated_at, 'path', n.full_path || '/' || p.path)
  from pipelines d join projects p on p.id = d.project_id join namespaces n on n.id = p.namespace_id
  where d.source_job_id = ci_jobs.id)`;

/** Written out, since indexes are of one kind. */
const kinds = {
  job: sql<SqlBool>`ci_jobs.kind = 'job'`,
  bridge: sql<SqlBool>`ci_jobs.kind = 'bridge'`,
  any: sql<SqlBool>`ci_jobs.kind <> 'status'`,
};

const jobs = (db: Db, kind: JobKind) =>
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
    .$if(kind !== 'job', (query) => query.select(downstream.as('downstream')))
    .where(kinds[kind]);

const jobsOf = (db: Db, project: Pick<AuthorizedProject, 'id'>, kind: JobKind) =>
  jobs(db, kind).where('ci_jobs.project_id', '=', project.id);

export type JobDetails = NonNullable<Awaited<ReturnType<typeof selectJob>>>;

/** How many jobs of a pipeline are in each status, stage by stage, without those that another took the place of. */
export async function countByStage(
  db: Db,
  pipelineId: number,
): Promise<{ stage: string; status: string; count: number }[]> {
  const { rows } = await sql<{ stage: string; status: string; count: number }>`
    select stage, status, count(*)::integer as count from ci_jobs
    where pipeline_id = ${pipelineId} and kind in ('job', 'bridge') and not retried
    group by stage_index, stage, status order by stage_index, stage, status`.execute(db);
  return rows;
}

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

/** The jobs of these ids, of whatever projects, in any order. */
export const selectJobsAcross = (db: Db, ids: readonly number[]): Promise<JobDetails[]> =>
  jobs(db, 'job').where('ci_jobs.id', 'in', ids).execute();

type RunnerFilter = {
  status?: Status | undefined;
  system_id?: string | undefined;
  sort?: 'asc' | 'desc' | undefined;
};

/**
 * One page of the jobs that a runner took, the newest first unless the client orders otherwise, with the paths of their projects:
 * of those whose jobs the caller reads, and that still have the runner. Administrators see all.
 */
export function selectJobsOfRunner(
  db: Db,
  actor: Actor,
  runner: { id: number; namespace_id: number | null },
  { status, system_id, sort = 'desc' }: RunnerFilter,
  page: PageRequest,
): Promise<Page<{ id: number; full_path: string }>> {
  let query = db
    .selectFrom('ci_jobs')
    .innerJoin('projects', 'projects.id', 'ci_jobs.project_id')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .select('ci_jobs.id')
    .select(sql<string>`namespaces.full_path || '/' || projects.path`.as('full_path'))
    .where('ci_jobs.runner_id', '=', runner.id)
    .where('ci_jobs.kind', '=', 'job')
    .where('projects.deleting', '=', false);
  if (status !== undefined) query = query.where('ci_jobs.status', '=', status);
  if (system_id !== undefined)
    query = query.where(
      sql<boolean>`ci_jobs.runner_manager_id = (
        select m.id from runner_managers m where m.runner_id = ${runner.id} and m.system_xid = ${system_id})`,
    );
  if (!actor.admin)
    query = query.where(
      sql<boolean>`ci_jobs.project_id = any(array(
        with ${callerCte(actor)} select p.id from projects p join namespaces n on n.id = p.namespace_id
        where (p.id in (select o.project_id from runner_projects o where o.runner_id = ${runner.id})
            or ${runner.namespace_id}::bigint = any(n.ancestor_ids))
          and ${mayInProjects('read_pipelines', actor, sql.raw(projectLevel(CALLER, TODAY)))}))`,
    );
  return selectPage(db, query, page, { by: 'id', sort }, { id: 'ci_jobs.id' });
}
