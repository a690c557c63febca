/** Takes the schedules that are due, and makes their pipelines. */
import { now } from '../../../platform/clock.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import { forbidden } from '../../../platform/failure.ts';
import { addJobs, type Task } from '../../../platform/jobs/jobs.ts';
import type { Log } from '../../../platform/log.ts';
import { unseal } from '../../../platform/secret.ts';
import { findUserOfProject } from '../../conversation/index.ts';
import {
  type CreationServices,
  type Creator,
  mayRunRef,
  type PipelineRequest,
} from '../creation/compile-request.ts';
import { createPipeline } from '../creation/create-actions.ts';
import { createUnattended } from '../creation/unattended.ts';
import type { Variable } from '../variables/rules.ts';
import { nextRun } from './cron.ts';
import { type ScheduleRow, selectSchedule, selectScheduleVariables } from './queries.ts';
import { type Input, refOf } from './rules.ts';

export const TAKE_DUE = 'ci.take_due_schedules';
export const RUN = 'ci.run_schedule';

/** Of one transaction. */
const BATCH = 100;

type Run = { id: number; project_id: number; due: string };

/** Adds a job for each schedule that is due; the time moves on with it, so that none is taken twice. */
export const takeDue =
  ({ database }: CreationServices): Task =>
  async () => {
    let taken: number;
    do {
      taken = await inTransaction(database.background, async (tx) => {
        const time = now();
        const due = await tx
          .selectFrom('pipeline_schedules')
          .select(['id', 'project_id', 'cron', 'cron_timezone', 'next_run_at'])
          .where('active', '=', true)
          .where('next_run_at', '<=', time)
          .orderBy('next_run_at')
          .limit(BATCH)
          .forUpdate()
          .skipLocked()
          .execute();
        for (const row of due) {
          const next = nextRun(row, time);
          await tx
            .updateTable('pipeline_schedules')
            // A zone that was known once may be known no more.
            .set(typeof next === 'string' ? { active: false } : { next_run_at: next })
            .where('id', '=', row.id)
            .execute();
        }
        await addJobs(
          tx,
          due.map(({ id, project_id, next_run_at }) => ({
            task: RUN,
            payload: { id, project_id, due: next_run_at.toISOString() } satisfies Run,
          })),
        );
        return due.length;
      });
    } while (taken === BATCH);
  };

/** What a schedule asks for. */
async function requestOf(services: CreationServices, row: ScheduleRow): Promise<PipelineRequest> {
  const variables = await selectScheduleVariables(services.database.db, row.id);
  const inputs = row.inputs as Input[];
  return {
    source: 'schedule',
    ...refOf(row.ref),
    variables: variables.map(({ key, value_sealed, variable_type }) => ({
      key,
      value: unseal(services.secretKey, value_sealed),
      // The column has a check of the same values.
      variable_type: variable_type as Variable['variable_type'],
    })),
    ...(inputs.length > 0 && { inputs: Object.fromEntries(inputs.map(({ name, value }) => [name, value])) }),
    scheduleDescription: row.description,
    schedule: { id: row.id },
  };
}

/** Makes a pipeline of the schedule now, as the caller; 403 for who may not run the ref. */
export async function playSchedule(creator: Creator, row: ScheduleRow): Promise<void> {
  const request = await requestOf(creator.services, row);
  if (!(await mayRunRef(creator, request))) throw forbidden();
  await createPipeline(creator, request);
}

/** Makes the pipeline of one schedule that was due, as its owner; one whose owner may not run it any more is made inactive. */
export const runSchedule =
  (services: CreationServices & { log: Log }): Task =>
  async (payload) => {
    // Written by takeDue() only.
    const { id, project_id, due } = payload as Run;
    const { db } = services.database;
    const row = await selectSchedule(db, { id: project_id }, id);
    if (!row?.active) return;
    const user =
      row.owner_id === null ? undefined : await findUserOfProject(services, project_id, row.owner_id);
    const request = await requestOf(services, row);
    const creator = user?.project.may('run_pipelines') && {
      services,
      actor: user.actor,
      subject: user.project,
    };
    if (!creator || !(await mayRunRef(creator, request))) {
      await db
        .updateTable('pipeline_schedules')
        .set({ active: false, updated_at: now() })
        .where('id', '=', id)
        .where('owner_id', 'is not distinct from', row.owner_id)
        .execute();
      return;
    }
    await createUnattended(creator, { ...request, schedule: { id, due: new Date(due) } });
  };
