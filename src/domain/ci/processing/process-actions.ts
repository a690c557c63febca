/** Lets a pipeline go on after one of its jobs changed. */
import { type Selectable, sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db } from '../../../platform/db/database.ts';
import type { CiJobsTable, PipelinesTable } from '../../../platform/db/rows.ts';
import { advance, type JobState, type RunsWhen } from './advance.ts';
import { followJobs, isOutdated, isUnapproved } from './deployment-actions.ts';
import { durationOf, type Ran } from './durations.ts';
import { announcePipelines, changeJobs } from './fact-actions.ts';
import { selectRanBelow } from './hierarchy-queries.ts';
import { assignResources } from './resource-actions.ts';
import { isCompleted, type Status } from './status.ts';

export type PipelineRow = Selectable<PipelinesTable>;
export type JobRow = Selectable<CiJobsTable>;

type Job = JobState & {
  resource_group_id: number | null;
  may_deploy: boolean;
  outdated: boolean;
  unapproved: boolean;
};
type Change = { id: number; status: Status; reason: string | null };

/** Why a job fails whose turn it is; null for one that may run. */
function refusalOf({ may_deploy, outdated }: Job): string | null {
  if (!may_deploy) return 'protected_environment_failure';
  return outdated ? 'failed_outdated_deployment_job' : null;
}

/** What a job is whose turn it is. */
function begun(job: Job): Status {
  if (refusalOf(job) !== null) return 'failed';
  // Somebody starts it, once it is approved.
  if (job.unapproved) return 'manual';
  return job.resource_group_id === null ? 'pending' : 'waiting_for_resource';
}

/** What becomes of the jobs that wait for nothing any more but, of some, a resource; they are changed in memory, too. */
function changesOf(jobs: readonly Job[]): Change[] {
  const byId = new Map(jobs.map((job) => [job.id, job]));
  const all: Change[] = [];
  // Others may wait for one that fails at once.
  for (let { changes } = advance(jobs); changes.length > 0; { changes } = advance(jobs))
    for (const { id, status: next } of changes) {
      const job = byId.get(id);
      if (!job) continue;
      job.status = next === 'pending' || (next === 'scheduled' && job.unapproved) ? begun(job) : next;
      all.push({ id, status: job.status, reason: job.status === 'failed' ? refusalOf(job) : null });
    }
  return all;
}

/** One whose row the transaction has locked for a job of it that has its resource now. */
async function processOther(tx: Db, id: number): Promise<void> {
  const other = await tx.selectFrom('pipelines').selectAll().where('id', '=', id).executeTakeFirst();
  if (other) await processPipeline(tx, other, { assigns: false });
}

/** How long its own jobs ran, and those of the pipelines that others of them started. */
async function durationAt(
  tx: Db,
  { id }: PipelineRow,
  jobs: readonly (Pick<Job, 'kind'> & Ran)[],
  time: Date,
): Promise<number | null> {
  const own = jobs.filter(({ kind }) => kind !== 'bridge');
  const others = own.length < jobs.length ? await selectRanBelow(tx, id) : [];
  return durationOf([...own, ...others], time) ?? null;
}

/**
 * Changes the jobs that wait for nothing any more, and the pipeline's status; returns the pipeline as it is then. Its row
 * is locked by the transaction, so that one step follows the other whichever process takes it. What is free of the
 * resources that its jobs use goes to who is next.
 */
export async function processPipeline(
  tx: Db,
  pipeline: PipelineRow,
  { assigns = true }: { assigns?: boolean } = {},
): Promise<PipelineRow> {
  const rows = await tx
    .selectFrom('ci_jobs')
    .select([
      'id',
      'kind',
      'name',
      'status',
      'stage_index',
      'runs_when',
      'needs',
      'allow_failure',
      'environment_id',
      'resource_group_id',
      'may_deploy',
      'started_at',
      'finished_at',
    ])
    .select([isOutdated.as('outdated'), isUnapproved.as('unapproved')])
    .where('pipeline_id', '=', pipeline.id)
    .where('retried', '=', false)
    .orderBy('id')
    .execute();
  // The columns have checks of the same values.
  const jobs = rows.map((row) => ({
    ...row,
    status: row.status as Status,
    runs_when: row.runs_when as RunsWhen,
  }));
  const time = now();
  const changes = changesOf(jobs);
  if (changes.length > 0) {
    const ids = changes.map(({ id }) => id);
    const statuses = changes.map((change) => change.status);
    const reasons = changes.map(({ reason }) => reason);
    await changeJobs(
      tx,
      sql`
      update ci_jobs j set status = c.status, updated_at = ${time},
        failure_reason = c.reason,
        finished_at = case when c.status = 'failed' then ${time}::timestamptz end,
        queued_at = case when c.status = 'pending' then ${time}::timestamptz end,
        scheduled_at = case when c.status = 'scheduled'
          then ${time}::timestamptz + (j.options->>'startIn')::integer * interval '1 second' end
      from unnest(${ids}::bigint[], ${statuses}::text[], ${reasons}::text[]) c (id, status, reason) where c.id = j.id returning j.*`,
    );
  }
  const groups = [...new Set(jobs.flatMap(({ resource_group_id }) => resource_group_id ?? []))];
  const assigned = groups.length > 0 && assigns ? await assignResources(tx, pipeline.id, groups) : [];
  for (const { id } of assigned) {
    const own = jobs.find((job) => job.id === id);
    if (own) own.status = 'pending';
  }
  for (const { pipeline_id } of assigned)
    if (pipeline_id !== pipeline.id) await processOther(tx, pipeline_id);
  const { status } = advance(jobs);
  if (jobs.some(({ environment_id }) => environment_id !== null)) await followJobs(tx, pipeline);
  if (status === pipeline.status) return pipeline;
  const ended = isCompleted(status);
  const change = {
    status,
    updated_at: time,
    started_at: pipeline.started_at ?? (status === 'running' ? time : null),
    finished_at: ended ? time : null,
    duration: ended ? await durationAt(tx, pipeline, jobs, time) : pipeline.duration,
  };
  const changed = tx.updateTable('pipelines').set(change).where('id', '=', pipeline.id).returningAll();
  // The column has a check of the same values.
  const beginsAnew = isCompleted(pipeline.status as Status) && !ended;
  await sql`with changed as (${changed}) ${announcePipelines('changed', beginsAnew)}`.execute(ahead(tx));
  return { ...pipeline, ...change };
}
