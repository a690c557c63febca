/** Reads environments and deployments of a project. */
import { type Selectable, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { DeploymentsTable, EnvironmentsTable } from '../../../platform/db/rows.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import { userColumns } from '../pipelines/user-columns.ts';
import type { DeploymentList, EnvironmentList } from './schema.ts';

export type EnvironmentRow = Selectable<EnvironmentsTable>;
export type DeploymentRow = Selectable<DeploymentsTable>;
type Project = Pick<AuthorizedProject, 'id'>;

const environmentsOf = (db: Db, project: Project) =>
  db.selectFrom('environments').selectAll().where('project_id', '=', project.id);

/** One page, by name. */
export function selectEnvironments(
  db: Db,
  project: Project,
  { name, search, states }: EnvironmentList,
  page: PageRequest,
): Promise<Page<EnvironmentRow>> {
  let query = environmentsOf(db, project);
  if (name !== undefined) query = query.where('name', '=', name);
  if (search !== undefined)
    query = query.where(sql<boolean>`position(lower(${search}) in lower(environments.name)) > 0`);
  if (states !== undefined) query = query.where('state', '=', states);
  return selectPage(
    db,
    query,
    page,
    { by: 'name', sort: 'asc' },
    { id: 'environments.id', name: 'environments.name' },
  );
}

export const selectEnvironment = (
  db: Db,
  project: Project,
  id: number,
): Promise<EnvironmentRow | undefined> => environmentsOf(db, project).where('id', '=', id).executeTakeFirst();

/** Locked until the transaction ends. */
export const lockEnvironment = (tx: Db, project: Project, id: number): Promise<EnvironmentRow | undefined> =>
  environmentsOf(tx, project).where('id', '=', id).forUpdate().executeTakeFirst();

/** Stopped ones below `review/` that were made before the time, the oldest first; those that wait for their end are left out. */
export const selectReviewApps = (
  db: Db,
  project: Project,
  before: Date,
  limit: number,
): Promise<EnvironmentRow[]> =>
  environmentsOf(db, project)
    .where(sql<boolean>`name like 'review/%'`)
    .where('state', '=', 'stopped')
    .where('auto_delete_at', 'is', null)
    .where('created_at', '<', before)
    .orderBy('id')
    .limit(limit)
    .execute();

/** Columns of the environment beside those of its deployment. */
const environmentColumns = [
  'environments.name as environment_name',
  'environments.slug as environment_slug',
  'environments.external_url as environment_url',
  'environments.created_at as environment_created_at',
  'environments.updated_at as environment_updated_at',
] as const;

const deploymentsOf = (db: Db, project: Project) =>
  db
    .selectFrom('deployments')
    .innerJoin('environments', 'environments.id', 'deployments.environment_id')
    .innerJoin('users', 'users.id', 'deployments.user_id')
    .selectAll('deployments')
    .select(environmentColumns)
    .select(userColumns)
    .where('deployments.project_id', '=', project.id);

export type DeploymentDetails = NonNullable<Awaited<ReturnType<typeof selectDeployment>>>;

export const selectDeployment = (db: Db, project: Project, id: number) =>
  deploymentsOf(db, project).where('deployments.id', '=', id).executeTakeFirst();

/** Locked until the transaction ends. */
export const lockDeployment = (tx: Db, project: Project, id: number): Promise<DeploymentRow | undefined> =>
  tx
    .selectFrom('deployments')
    .selectAll()
    .where('project_id', '=', project.id)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();

/** One page, the oldest first unless the client orders otherwise. */
export function selectDeployments(
  db: Db,
  project: Project,
  filter: DeploymentList,
  page: PageRequest,
): Promise<Page<DeploymentDetails>> {
  let query = deploymentsOf(db, project);
  const { environment, status, order_by = 'id', sort = 'asc' } = filter;
  if (environment !== undefined) query = query.where('environments.name', '=', environment);
  if (status !== undefined) query = query.where('deployments.status', '=', status);
  for (const column of ['updated_at', 'finished_at'] as const) {
    const of = column === 'updated_at' ? 'updated' : 'finished';
    const [before, after] = [filter[`${of}_before`], filter[`${of}_after`]];
    if (before !== undefined) query = query.where(`deployments.${column}`, '<=', new Date(before));
    if (after !== undefined) query = query.where(`deployments.${column}`, '>=', new Date(after));
  }
  return selectPage(
    db,
    query,
    page,
    { by: order_by, sort },
    {
      id: 'deployments.id',
      iid: 'deployments.iid',
      created_at: 'deployments.created_at',
      updated_at: 'deployments.updated_at',
      finished_at: 'deployments.finished_at',
      ref: 'deployments.ref',
    },
  );
}

/** What the environment has now: the last deployment that succeeded. */
export const selectLastDeployment = (db: Db, project: Project, environmentId: number) =>
  deploymentsOf(db, project)
    .where('deployments.environment_id', '=', environmentId)
    .where('deployments.status', '=', 'success')
    .orderBy('deployments.finished_at', 'desc')
    .orderBy('deployments.id', 'desc')
    .limit(1)
    .executeTakeFirst();

/** The approvals of a deployment, the oldest first, with their users. */
export const selectReviews = (db: Db, deploymentId: number) =>
  db
    .selectFrom('deployment_approvals')
    .innerJoin('users', 'users.id', 'deployment_approvals.user_id')
    .selectAll('deployment_approvals')
    .select(userColumns)
    .where('deployment_id', '=', deploymentId)
    .orderBy('deployment_approvals.id')
    .execute();

/** The commit of a deployment, and that of the last one before it in the environment that went well. */
export async function selectDeployedRange(
  db: Db,
  project: Project,
  id: number,
): Promise<{ sha: string; before: string | null } | undefined> {
  const { rows } = await sql<{ sha: string; before: string | null }>`
    select d.sha, (select b.sha from deployments b
      where b.environment_id = d.environment_id and b.status = 'success' and b.id < d.id order by b.id desc limit 1) as before
    from deployments d where d.id = ${id} and d.project_id = ${project.id}`.execute(db);
  return rows[0];
}
