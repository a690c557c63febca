/** Writes new pipelines. */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { Json } from '../../../platform/db/rows.ts';
import type { PipelineRow } from '../processing/process-actions.ts';

/** Where nothing was pushed. */
export const NO_SHA = '0'.repeat(40);

export type NewPipeline = Pick<PipelineRow, 'sha' | 'ref' | 'tag' | 'source'> &
  Partial<Omit<PipelineRow, 'id' | 'iid' | 'project_id' | 'created_at' | 'updated_at'>>;

/** Its number is the project's next; the row of numbers stays locked until the transaction ends. */
export async function insertPipeline(
  tx: Db,
  project: Pick<AuthorizedProject, 'id'>,
  { merge_request_variables = [], ...values }: NewPipeline,
): Promise<PipelineRow> {
  const time = now();
  return tx
    .with('counted', (db) =>
      db
        .insertInto('project_counters')
        .values({ project_id: project.id, pipelines: 1 })
        .onConflict((conflict) =>
          conflict
            .column('project_id')
            .doUpdateSet({ pipelines: sql<number>`project_counters.pipelines + 1` }),
        )
        .returning('pipelines'),
    )
    .insertInto('pipelines')
    .values((eb) => ({
      before_sha: NO_SHA,
      status: 'created',
      protected: false,
      ...values,
      merge_request_variables: sql<Json>`${JSON.stringify(merge_request_variables)}::text::jsonb`,
      project_id: project.id,
      iid: eb.selectFrom('counted').select('pipelines'),
      created_at: time,
      updated_at: time,
    }))
    .returningAll()
    .executeTakeFirstOrThrow();
}
