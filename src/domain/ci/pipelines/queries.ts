/** Reads pipelines of a project. */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Db } from '../../../platform/db/database.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import type { PipelineRow } from '../processing/process-actions.ts';
import type { PipelineList } from './schema.ts';
import { userColumns } from './user-columns.ts';

export type { PipelineRow } from '../processing/process-actions.ts';

export const pipelinesOf = (db: Db, project: Pick<AuthorizedProject, 'id'>) =>
  db.selectFrom('pipelines').selectAll('pipelines').where('pipelines.project_id', '=', project.id);

/** The project's pipeline of this id. */
export const selectPipeline = (
  db: Db,
  project: Pick<AuthorizedProject, 'id'>,
  id: number,
): Promise<PipelineRow | undefined> =>
  pipelinesOf(db, project).where('pipelines.id', '=', id).executeTakeFirst();

/** The same, locked until the transaction ends: so its jobs change one after the other. */
export const lockPipeline = (
  tx: Db,
  project: Pick<AuthorizedProject, 'id'>,
  id: number,
): Promise<PipelineRow | undefined> =>
  pipelinesOf(tx, project).where('pipelines.id', '=', id).forUpdate().executeTakeFirst();

/** Of others than these, a pipeline is what its commit or ref fares by. */
const dangling = [
  'webide',
  'parent_pipeline',
  'ondemand_dast_scan',
  'ondemand_dast_validation',
  'security_orchestration_policy',
  'container_registry_push',
];

/** The newest pipeline of a commit, and of the ref where one is given. */
export function selectLastPipeline(
  db: Db,
  project: Pick<AuthorizedProject, 'id'>,
  sha: string,
  ref?: string,
): Promise<PipelineRow | undefined> {
  const query = pipelinesOf(db, project)
    .where('sha', '=', sha)
    .where('source', 'not in', dangling)
    .orderBy('pipelines.id', 'desc')
    .limit(1);
  return (ref === undefined ? query : query.where('ref', '=', ref)).executeTakeFirst();
}

/** A pipeline with its user, and what its jobs say of it. */
export const selectDetails = (db: Db, project: AuthorizedProject, id: number) =>
  pipelinesOf(db, project)
    .leftJoin('users', 'users.id', 'pipelines.user_id')
    .select(userColumns)
    .select([
      sql<
        number | null
      >`(select avg(j.coverage) from ci_jobs j where j.pipeline_id = pipelines.id and not j.retried)`.as(
        'coverage',
      ),
      sql<boolean>`exists (select from ci_jobs j where j.pipeline_id = pipelines.id and not j.retried
        and j.allow_failure and j.status in ('failed', 'canceled'))`.as('warnings'),
    ])
    .where('pipelines.id', '=', id)
    .executeTakeFirst();

export type PipelineDetails = NonNullable<Awaited<ReturnType<typeof selectDetails>>>;

const scopes = {
  running: ['running'],
  pending: ['pending'],
  finished: ['success', 'failed', 'canceled', 'skipped'],
};

/** One page. With `refs`, of each of these branches or tags the newest alone. */
export function selectPipelines(
  db: Db,
  project: AuthorizedProject,
  filter: PipelineList & { schedule_id?: number },
  refs: { names: readonly string[]; tag: boolean } | undefined,
  page: PageRequest,
): Promise<Page<PipelineRow>> {
  let query = pipelinesOf(db, project);
  const { scope, status, ref, sha, source, name, username, yaml_errors } = filter;
  if (scope === 'running' || scope === 'pending' || scope === 'finished')
    query = query.where('pipelines.status', 'in', scopes[scope]);
  if (refs)
    query = query.where(
      sql<boolean>`pipelines.id = any(array(select (
        select max(p.id) from pipelines p where p.project_id = ${project.id} and p.ref = r.name and p.tag = ${refs.tag} and p.source <> 'parent_pipeline')
        from unnest(${refs.names}::text[]) r (name)))`,
    );
  if (status !== undefined) query = query.where('pipelines.status', '=', status);
  if (ref !== undefined) query = query.where('pipelines.ref', '=', ref);
  if (sha !== undefined) query = query.where('pipelines.sha', '=', sha);
  if (filter.schedule_id !== undefined) query = query.where('pipelines.schedule_id', '=', filter.schedule_id);
  if (name !== undefined) query = query.where('pipelines.name', '=', name);
  if (yaml_errors !== undefined)
    query = query.where('pipelines.yaml_errors', yaml_errors ? 'is not' : 'is', null);
  if (username !== undefined)
    query = query.where(
      sql<boolean>`pipelines.user_id = (select u.id from users u where lower(u.username) = lower(${username}))`,
    );
  // Those that belong to another of the project are asked for by name.
  query =
    source === undefined
      ? query.where('pipelines.source', '<>', 'parent_pipeline')
      : query.where('pipelines.source', '=', source);
  for (const column of ['created_at', 'updated_at'] as const) {
    const of = column === 'created_at' ? 'created' : 'updated';
    const [before, after] = [filter[`${of}_before`], filter[`${of}_after`]];
    if (before !== undefined) query = query.where(`pipelines.${column}`, '<=', new Date(before));
    if (after !== undefined) query = query.where(`pipelines.${column}`, '>=', new Date(after));
  }
  return selectPage(
    db,
    query,
    page,
    { by: filter.order_by ?? 'id', sort: filter.sort ?? 'desc' },
    {
      id: 'pipelines.id',
      status: 'pipelines.status',
      ref: 'pipelines.ref',
      updated_at: 'pipelines.updated_at',
      user_id: 'pipelines.user_id',
    },
  );
}
