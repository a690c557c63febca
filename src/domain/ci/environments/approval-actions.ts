/** Approves and rejects deployments; the job goes on in the same transaction. */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { auditedParent } from '../../../kernel/access/resource-parents.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { projectSettings } from '../../../kernel/namespaces/project-settings.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { Failure } from '../../../platform/failure.ts';
import { lockJob } from '../jobs/actions.ts';
import { changeJobs } from '../processing/fact-actions.ts';
import { processPipeline } from '../processing/process-actions.ts';
import { type ApprovalRow, selectApprovals } from '../protected-environments/approval-queries.ts';
import { missingApprovals, standingOf } from '../protected-environments/approval-rules.ts';
import { readProtections } from '../protected-environments/deployer-queries.ts';
import { lockDeployment, selectDeployment, selectEnvironment } from './queries.ts';

type Context = { services: Needs<'database' | 'config'>; actor: Actor; subject: AuthorizedProject };
type Review = {
  status: 'approved' | 'rejected';
  comment?: string | undefined;
  represented_as?: string | undefined;
};

const refuse = (message: string): Failure => new Failure('bad_request', message);
const notWaiting = (): Failure => refuse('This deployment is not waiting for approvals.');

/** For what the review counts; 400 for who may not give it. */
async function placeOf(
  tx: Db,
  context: Context,
  { id, user_id, environment_id }: { id: number; user_id: number; environment_id: number },
  { status, represented_as }: Review,
) {
  const { actor, subject } = context;
  const environment = found(await selectEnvironment(tx, subject, environment_id), 'Environment');
  const { protections, deployer } = await readProtections(tx, context);
  if (missingApprovals(protections, environment, []) === 0)
    throw refuse('Deployment approvals is not configured for this environment.');
  const all = await selectApprovals(tx, id);
  if (missingApprovals(protections, environment, all) === 0) throw notWaiting();
  const others = all.filter((approval) => approval.user_id !== actor.id);
  const standing = standingOf(protections, environment, deployer, others, represented_as);
  if (!standing) {
    const isOther = standingOf(protections, environment, deployer, others) !== undefined;
    throw refuse(
      isOther
        ? 'There are no approval rules for the given `represent_as` parameter. Use a valid User/Group/Role name instead.'
        : "You don't have permission to review this deployment. Contact the project or group owner for help.",
    );
  }
  const { allow_pipeline_trigger_approve_deployment: own } = projectSettings(subject.row);
  if (status === 'approved' && user_id === actor.id && !own)
    throw refuse('You cannot approve your own deployment.');
  const isLast = missingApprovals(protections, environment, [...others, { ...standing, status }]) === 0;
  return { standing, isLast };
}

/**
 * The review of the user, in the place of an earlier one. With the last approval somebody may start the job; one that is rejected
 * has failed. 400 for a deployment that waits for none, for who may not review it, and for approvals of one's own.
 */
export const reviewDeployment = (context: Context, id: number, review: Review): Promise<ApprovalRow> =>
  inTransaction(context.services.database.db, async (tx) => {
    const { actor, subject } = context;
    const { job_id } = found(await selectDeployment(tx, subject, id), 'Deployment');
    if (job_id === null) throw notWaiting();
    const { pipeline, job } = await lockJob(tx, subject, job_id);
    const deployment = found(await lockDeployment(tx, subject, id), 'Deployment');
    if (job.status !== 'manual') throw notWaiting();
    const { standing, isLast } = await placeOf(tx, context, deployment, review);
    const { status, comment = null } = review;
    const time = now();
    const values = { ...standing, status, comment, created_at: time };
    const approval = await tx
      .insertInto('deployment_approvals')
      .values({ ...values, deployment_id: id, user_id: actor.id })
      .onConflict((conflict) => conflict.columns(['deployment_id', 'user_id']).doUpdateSet(values))
      .returningAll()
      .executeTakeFirstOrThrow();
    await announce(tx, {
      author: actor,
      audit: {
        entity: auditedParent(subject),
        event: `deployment_${status}`,
        details: { target_id: id, target_type: 'Deployment', target_details: String(deployment.iid) },
      },
    });
    if (status === 'rejected') {
      const change = tx
        .updateTable('ci_jobs')
        .set({ status: 'failed', failure_reason: 'deployment_rejected', finished_at: time, updated_at: time })
        .where('id', '=', job.id)
        .returningAll();
      await changeJobs(tx, sql`${change}`);
    } else if (isLast) {
      await ahead(tx).updateTable('deployments').set({ approved: true }).where('id', '=', id).execute();
    }
    await processPipeline(tx, pipeline);
    return approval;
  });
