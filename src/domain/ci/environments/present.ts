/** Environments and deployments as records. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { presentBasicProject } from '../../../kernel/namespaces/project-records.ts';
import { type JobContext, presentJobs } from '../jobs/present.ts';
import { selectJobsOf } from '../jobs/queries.ts';
import type { Job } from '../jobs/schema.ts';
import { presentUser } from '../pipelines/user-columns.ts';
import { selectMissing } from '../protected-environments/approval-queries.ts';
import {
  type DeploymentDetails,
  type EnvironmentRow,
  selectLastDeployment,
  selectReviews,
} from './queries.ts';
import type { Approval, Deployment, Environment, EnvironmentBasic, ExtendedDeployment } from './schema.ts';

const around = ({ services, settings }: JobContext) => ({ baseUrl: services.baseUrl(), settings });

export const presentBasic = (row: EnvironmentRow): EnvironmentBasic => ({
  id: row.id,
  name: row.name,
  slug: row.slug,
  external_url: row.external_url,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

export function presentEnvironment(context: JobContext, row: EnvironmentRow): Environment {
  const { actor, subject } = context;
  const view = { ...around(context), settings: context.settings, admin: actor?.admin ?? false };
  return {
    ...presentBasic(row),
    // The columns have checks of the same values.
    tier: row.tier as Environment['tier'],
    state: row.state as Environment['state'],
    description: row.description,
    project: presentBasicProject({ ...view, signedIn: actor !== undefined }, subject.row),
    auto_stop_at: row.auto_stop_at?.toISOString() ?? null,
    auto_stop_setting: row.auto_stop_setting as Environment['auto_stop_setting'],
    cluster_agent: null,
    kubernetes_namespace: row.kubernetes_namespace,
    flux_resource_path: row.flux_resource_path,
  };
}

/** Jobs by their ids, for those who read them. */
async function jobsOf(context: JobContext, rows: readonly DeploymentDetails[]): Promise<Map<number, Job>> {
  const ids = rows.flatMap(({ job_id }) => job_id ?? []);
  if (ids.length === 0 || !context.subject.may('read_pipelines')) return new Map();
  const jobs = await presentJobs(context, await selectJobsOf(context.db, context.subject, ids));
  return new Map(jobs.map((job) => [job.id, job]));
}

/** The records of deployments, in their order. */
export async function presentDeployments(
  context: JobContext,
  rows: readonly DeploymentDetails[],
): Promise<Deployment[]> {
  const jobs = await jobsOf(context, rows);
  return rows.map((row) => ({
    id: row.id,
    iid: row.iid,
    ref: row.ref,
    sha: row.sha,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    status: row.status as Deployment['status'],
    user: presentUser(around(context), row),
    environment: {
      id: row.environment_id,
      name: row.environment_name,
      slug: row.environment_slug,
      external_url: row.environment_url,
      created_at: row.environment_created_at.toISOString(),
      updated_at: row.environment_updated_at.toISOString(),
    },
    deployable: jobs.get(row.job_id ?? 0) ?? null,
  }));
}

/** The row of an approval, with its user. */
export const presentApproval = (
  context: JobContext,
  row: Awaited<ReturnType<typeof selectReviews>>[number],
): Approval => ({
  user: presentUser(around(context), row),
  // The column has a check of the same values.
  status: row.status as Approval['status'],
  created_at: row.created_at.toISOString(),
  comment: row.comment,
});

/** With its approvals, and the number of those that are missing. */
export async function presentExtended(
  context: JobContext,
  row: DeploymentDetails,
): Promise<ExtendedDeployment | undefined> {
  const [deployment] = await presentDeployments(context, [row]);
  const approvals = row.job_id === null ? [] : await selectReviews(context.db, row.id);
  const missing =
    row.status === 'blocked' && row.job_id !== null
      ? await selectMissing(context.db, context, { id: row.job_id, needs_approval: true })
      : 0;
  return (
    deployment && {
      ...deployment,
      pending_approval_count: missing,
      approvals: approvals.map((approval) => presentApproval(context, approval)),
    }
  );
}

/** With what was deployed last. */
export async function presentWhole(
  context: JobContext & { subject: AuthorizedProject },
  row: EnvironmentRow,
): Promise<Environment> {
  const last = await selectLastDeployment(context.db, context.subject, row.id);
  const [deployment = null] = last ? await presentDeployments(context, [last]) : [];
  return { ...presentEnvironment(context, row), last_deployment: deployment };
}
