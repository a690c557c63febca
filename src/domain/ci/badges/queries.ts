/** Reads what badges of a branch or tag say. */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Db } from '../../../platform/db/database.ts';
import { pipelinesOf } from '../pipelines/queries.ts';
import type { Status } from '../processing/status.ts';

const newestOf = (db: Db, project: AuthorizedProject, ref: string) =>
  pipelinesOf(db, project)
    .where('pipelines.ref', '=', ref)
    .where('pipelines.source', 'not in', ['parent_pipeline', 'merge_request_event'])
    .orderBy('pipelines.id', 'desc')
    .limit(1);

/** Of the newest pipeline; with `ignoresSkipped`, of the newest that was not skipped. */
export async function selectBadgeStatus(
  db: Db,
  project: AuthorizedProject,
  ref: string,
  ignoresSkipped: boolean,
): Promise<Status | undefined> {
  const newest = newestOf(db, project, ref);
  const row = await (ignoresSkipped
    ? newest.where('pipelines.status', '<>', 'skipped')
    : newest
  ).executeTakeFirst();
  // The column has a check of the same values.
  return row?.status as Status | undefined;
}

/** Percent, of the newest pipeline that succeeded: of a job by its name, or the mean over the jobs that have one. */
export async function selectBadgeCoverage(
  db: Db,
  project: AuthorizedProject,
  ref: string,
  job: string | undefined,
): Promise<number | undefined> {
  const pipeline = await newestOf(db, project, ref)
    .where('pipelines.status', '=', 'success')
    .executeTakeFirst();
  if (!pipeline) return undefined;
  const { rows } = await sql<{ coverage: number | null }>`
    select avg(coverage) as coverage from ci_jobs
    where pipeline_id = ${pipeline.id} and not retried and (${job ?? null}::text is null or name = ${job ?? null})`.execute(
    db,
  );
  return rows[0]?.coverage ?? undefined;
}
