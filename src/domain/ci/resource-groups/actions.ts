/** Changes who gets a resource next, and gives it to those who were overlooked. */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { type PipelineRow, processPipeline } from '../processing/process-actions.ts';
import type { ProcessMode } from '../processing/resource-actions.ts';
import type { ResourceGroupRow } from './queries.ts';

/** Resources of one round. */
const BATCH = 500;

/** Gives what is free to who is next, of all groups or of one: after a change of the order, and what was missed. */
export async function assignFree(db: Db, groupId?: number): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    select distinct w.pipeline_id as id from ci_jobs w
    where w.resource_group_id is not null and not w.retried and w.status = 'waiting_for_resource'
      and (${groupId ?? null}::bigint is null or w.resource_group_id = ${groupId ?? null})
      and not exists (select from ci_jobs u where u.resource_group_id = w.resource_group_id and not u.retried
        and u.status in ('preparing', 'pending', 'running', 'canceling'))
    order by w.pipeline_id limit ${BATCH}`.execute(db);
  for (const { id } of rows)
    await inTransaction(db, async (tx) => {
      const locked = await sql<PipelineRow>`select * from pipelines where id = ${id} for update`.execute(tx);
      const [pipeline] = locked.rows;
      if (pipeline) await processPipeline(tx, pipeline);
    });
}

/** Changes the mode; who is next by it gets the resource where it is free. */
export async function changeMode(
  db: Db,
  row: ResourceGroupRow,
  process_mode: ProcessMode,
): Promise<ResourceGroupRow> {
  if (process_mode === row.process_mode) return row;
  const changes = { process_mode, updated_at: now() };
  await db.updateTable('resource_groups').set(changes).where('id', '=', row.id).execute();
  await assignFree(db, row.id);
  return { ...row, ...changes };
}
