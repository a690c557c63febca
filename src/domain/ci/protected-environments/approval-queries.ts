/** Reads approvals of deployments, and how many are missing. */
import { type Selectable, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { DeploymentApprovalsTable } from '../../../platform/db/rows.ts';
import { missingApprovals } from './approval-rules.ts';
import { protects } from './deployer-queries.ts';
import { selectProtections } from './queries.ts';

export type ApprovalRow = Selectable<DeploymentApprovalsTable>;

/** The oldest first. */
export const selectApprovals = (db: Db, deploymentId: number): Promise<ApprovalRow[]> =>
  db
    .selectFrom('deployment_approvals')
    .selectAll()
    .where('deployment_id', '=', deploymentId)
    .orderBy('id')
    .execute();

/** So many approvals are missing of the deployment that a job makes, by the rules of now; one without a deployment that would need them gets none. */
export async function selectMissing(
  db: Db,
  { services, subject }: { services: Needs<'config'>; subject: Pick<AuthorizedProject, 'id' | 'row'> },
  job: { id: number; needs_approval: boolean },
): Promise<number> {
  const { rows } = await sql<{ id: number; name: string; tier: string }>`
    select d.id, e.name, e.tier from deployments d join environments e on e.id = d.environment_id
    where d.job_id = ${job.id}`.execute(db);
  const [deployment] = rows;
  if (!protects(services)) return 0;
  if (!deployment) return job.needs_approval ? 1 : 0;
  const protections = await selectProtections(db, subject);
  if (missingApprovals(protections, deployment, []) === 0) return 0;
  return missingApprovals(protections, deployment, await selectApprovals(db, deployment.id));
}
