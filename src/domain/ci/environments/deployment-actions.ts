/** Deployments that other programs report: made, changed and deleted. */
import { sql } from 'kysely';
import { found } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { Failure, forbidden, invalid } from '../../../platform/failure.ts';
import { fullRef, isRefName } from '../../../platform/git/names.ts';
import { findCommit, peelToCommit } from '../../../platform/git/refs.ts';
import { readRepository } from '../../repositories/index.ts';
import { announceDeployments } from '../processing/fact-actions.ts';
import { requireDeployer, requireDeployerTo } from '../protected-environments/deployer-queries.ts';
import { type Context, refuse } from './actions.ts';
import { ensureEnvironment, insertDeployment } from './insert-actions.ts';
import { lockDeployment, selectLastDeployment } from './queries.ts';
import { isFinished, nameProblems, type ReportedStatus, statusProblems } from './rules.ts';
import type { CreateDeployment } from './schema.ts';

type WriteContext = Context & { services: Needs<'database' | 'config' | 'repositories'> };

/** The commit's id; 400 without the commit, or the branch or tag. */
async function findTarget(
  { services, subject }: WriteContext,
  { sha, ref, tag }: CreateDeployment,
): Promise<string> {
  const target = await readRepository(services, subject, async (git) => ({
    commit: await findCommit(git, sha),
    tip: isRefName(ref) ? await peelToCommit(git, fullRef(tag ? 'tag' : 'branch', ref)) : undefined,
  }));
  refuse(
    target?.commit ? {} : { sha: ['The commit does not exist'] },
    target?.tip ? {} : { ref: ['The branch or tag does not exist'] },
  );
  return found(target?.commit).oid;
}

/** What has succeeded is there. */
const open = async (tx: Db, environmentId: number): Promise<void> => {
  await sql`update environments set state = 'available', auto_delete_at = null, updated_at = ${now()}
    where id = ${environmentId}`.execute(ahead(tx));
};

/** Tells of a new deployment. */
const tell = async (tx: Db, id: number): Promise<void> => {
  await sql`with made as (select * from deployments where id = ${id}) ${announceDeployments('made')}`.execute(
    ahead(tx),
  );
};

/** Makes a deployment, and its environment where that is missing; returns its id. 400 for what is not there. */
export async function createDeployment(context: WriteContext, input: CreateDeployment): Promise<number> {
  const { services, actor, subject } = context;
  const { environment: name, ref, tag, status } = input;
  const problems = nameProblems(name).name;
  refuse(problems ? { environment: problems } : {});
  const sha = await findTarget(context, input);
  return inTransaction(services.database.db, async (tx) => {
    const environment = await ensureEnvironment(tx, subject, name);
    if (!environment) throw invalid({ environment: ['has already been taken'] });
    await requireDeployer(tx, context, environment);
    const finished_at = isFinished(status) ? now() : null;
    const values = { ref, sha, tag, status, user_id: actor.id, finished_at };
    const id = await insertDeployment(tx, subject, environment, values);
    await tell(tx, id);
    if (status === 'success') await open(tx, environment.id);
    return id;
  });
}

/** Changes the status; 403 for a deployment of a job, 400 for a status that does not follow its own, 404 without it. */
export const updateDeployment = (context: Context, id: number, status: ReportedStatus): Promise<void> =>
  inTransaction(context.services.database.db, async (tx) => {
    const row = found(await lockDeployment(tx, context.subject, id), 'Deployment');
    await requireDeployerTo(tx, context, row);
    if (row.job_id !== null)
      throw forbidden('Deployments created using GitLab CI can not be updated using the API');
    refuse(statusProblems(row.status, status));
    const time = now();
    const change = tx
      .updateTable('deployments')
      .set({ status, updated_at: time, finished_at: isFinished(status) ? time : null })
      .where('id', '=', id)
      .returningAll();
    await sql`with changed as (${change}) ${announceDeployments('changed')}`.execute(ahead(tx));
    if (status === 'success') await open(tx, row.environment_id);
  });

/**
 * Deletes a deployment; 400 for one that runs, whose job may run, or that is what the environment has, 403 for who may not deploy
 * there, 404 without it.
 */
export const deleteDeployment = (
  context: Context,
  id: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(context.services.database.db, async (tx) => {
    const { subject } = context;
    const row = found(await lockDeployment(tx, subject, id), 'Deployment');
    await requireDeployerTo(tx, context, row);
    unmodified(row.updated_at);
    const isAhead = row.job_id !== null && !isFinished(row.status);
    if (row.status === 'running' || isAhead)
      throw new Failure('bad_request', 'Cannot destroy running deployment');
    const last = await selectLastDeployment(tx, subject, row.environment_id);
    if (last?.id === id) throw new Failure('bad_request', 'Deployment currently deployed to environment');
    await ahead(tx).deleteFrom('deployments').where('id', '=', id).execute();
  });
