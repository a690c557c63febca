/** Cancels pipelines, retries, renames and deletes them. */
import { type SqlBool, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, inTransaction } from '../../../platform/db/database.ts';
import { cancelWithChildren, forgetTokens, replaceJobs, resetSkipped } from '../processing/change-actions.ts';
import { selectWithChildren } from '../processing/hierarchy-queries.ts';
import { processPipeline } from '../processing/process-actions.ts';
import { HOPELESS } from '../processing/status.ts';
import { selectGuarded } from '../protected-environments/deployer-queries.ts';
import { lockPipeline } from './queries.ts';
import { requireRunnable } from './ref-rights.ts';

type Context = {
  services: Needs<'database' | 'config' | 'settings'>;
  actor: Actor;
  subject: AuthorizedProject;
};

/** Cancels its jobs that have not ended, and its children; what other programs said stays. */
export const cancelPipeline = ({ services, subject }: Context, id: number): Promise<void> =>
  inTransaction(services.database.db, async (tx) => {
    const pipeline = found(await lockPipeline(tx, subject, id), 'Pipeline');
    await cancelWithChildren(tx, pipeline);
    await processPipeline(tx, pipeline);
  });

/** Runs the jobs again that failed or were canceled, but those that deploy where the caller may not; and what was skipped for them. */
export const retryPipeline = ({ services, actor, subject }: Context, id: number): Promise<void> =>
  inTransaction(services.database.db, async (tx) => {
    const pipeline = found(await lockPipeline(tx, subject, id), 'Pipeline');
    await requireRunnable(tx, { services, actor, subject }, pipeline);
    const { closed, asking } = await selectGuarded(tx, { services, actor, subject }, pipeline.id);
    const ended = sql<SqlBool>`pipeline_id = ${pipeline.id} and kind <> 'status' and not retried and status in ('failed', 'canceled')
      and coalesce(failure_reason <> all(${HOPELESS}::text[]), true)
      and (environment_id is null or environment_id <> all(${closed}::bigint[]))`;
    await replaceJobs(tx, pipeline, actor, ended, asking);
    await resetSkipped(tx, pipeline, 0);
    await processPipeline(tx, pipeline);
  });

export const renamePipeline = ({ services, subject }: Context, id: number, name: string): Promise<void> =>
  inTransaction(services.database.db, async (tx) => {
    const pipeline = found(await lockPipeline(tx, subject, id), 'Pipeline');
    await ahead(tx)
      .updateTable('pipelines')
      .set({ name, updated_at: now() })
      .where('id', '=', pipeline.id)
      .execute();
  });

/** Its jobs go with it, and its children with theirs. */
export const deletePipeline = (
  { services, subject }: Context,
  id: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(services.database.db, async (tx) => {
    const pipeline = found(await lockPipeline(tx, subject, id), 'Pipeline');
    unmodified(pipeline.updated_at);
    const ids = await selectWithChildren(tx, pipeline.id);
    await forgetTokens(tx, sql`pipeline_id = any(${ids}::bigint[])`);
    await ahead(tx).deleteFrom('pipelines').where('id', 'in', ids).execute();
  });
