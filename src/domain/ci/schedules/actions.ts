/** Makes pipeline schedules, changes and deletes them, and their variables. */

import { sql } from 'kysely';
import { lockParent } from '../../../kernel/access/own-row-queries.ts';
import { auditedParent } from '../../../kernel/access/resource-parents.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { limitOf } from '../../../kernel/instance/plan-limits.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import type { Json } from '../../../platform/db/rows.ts';
import { forbidden, invalid } from '../../../platform/failure.ts';
import { fullRef, isRefName, shortRef } from '../../../platform/git/names.ts';
import { peelToCommit } from '../../../platform/git/refs.ts';
import { seal } from '../../../platform/secret.ts';
import { readRepository } from '../../repositories/index.ts';
import { type Creator, mayRunRef } from '../creation/compile-request.ts';
import { newVariable, problemsOf, type Variable } from '../variables/rules.ts';
import {
  countSchedules,
  lockSchedule,
  type ScheduleRow,
  type ScheduleVariableRow,
  selectSchedule,
  selectScheduleVariable,
  selectScheduleVariables,
} from './queries.ts';
import {
  administers,
  changedInputs,
  fullRefAmong,
  type Input,
  type InputChange,
  MAX_VARIABLES,
  refOf,
  requireNextRun,
  requirePlace,
} from './rules.ts';

type Changes = {
  description?: string;
  ref?: string;
  cron?: string;
  cron_timezone?: string;
  active?: boolean;
  inputs?: readonly InputChange[];
};

const audit = (
  tx: Db,
  { actor, subject }: Creator,
  event: 'created' | 'updated' | 'deleted' | 'owner_changed',
  { id, description }: Pick<ScheduleRow, 'id' | 'description'>,
): Promise<void> =>
  announce(tx, {
    author: actor,
    audit: {
      entity: auditedParent(subject),
      event: `pipeline_schedule_${event}`,
      details: { target_id: id, target_type: 'Ci::PipelineSchedule', target_details: description },
    },
  });

const asJson = (inputs: readonly Input[]) => sql<Json>`${JSON.stringify(inputs)}::text::jsonb`;

/** The ref in full, as the repository has it now; 403 for one that the caller may not run pipelines of. */
async function resolveRef(creator: Creator, ref: string): Promise<string> {
  const there = shortRef(ref) ? [] : await refsNamed(creator, ref);
  const full = fullRefAmong(ref, there);
  if (!(await mayRunRef(creator, refOf(full)))) throw forbidden();
  return full;
}

/** The branch and the tag that have the name. */
async function refsNamed({ services, subject }: Creator, name: string) {
  if (!isRefName(name)) return [];
  const there = await readRepository(services, subject, async (git) => {
    const found = [];
    for (const kind of ['branch', 'tag'] as const)
      if (await peelToCommit(git, fullRef(kind, name))) found.push({ kind, ref: fullRef(kind, name) });
    return found;
  });
  return there ?? [];
}

/** The schedule, locked, for its owner; 404 without it, 403 for another's. */
async function lockOwn(tx: Db, { actor, subject }: Creator, id: number): Promise<ScheduleRow> {
  const row = found(await lockSchedule(tx, subject, id), 'PipelineSchedule');
  if (row.owner_id !== actor.id) throw forbidden();
  return row;
}

/** The same for its owner and for maintainers. */
async function lockAdministered(tx: Db, { actor, subject }: Creator, id: number): Promise<ScheduleRow> {
  const row = found(await lockSchedule(tx, subject, id), 'PipelineSchedule');
  if (!administers({ isOwner: row.owner_id === actor.id, role: subject.role })) throw forbidden();
  return row;
}

/** Makes a schedule of the caller's; 400 for a wrong pattern or zone, a ref of two kinds, and one too many. */
export async function createSchedule(
  context: Creator,
  {
    description,
    ref,
    cron,
    cron_timezone = 'UTC',
    active = true,
    inputs = [],
  }: Changes & {
    description: string;
    ref: string;
    cron: string;
  },
): Promise<ScheduleRow> {
  const { services, actor, subject } = context;
  const time = now();
  const values = {
    project_id: subject.id,
    owner_id: actor.id,
    description,
    cron,
    cron_timezone,
    active,
    next_run_at: requireNextRun({ cron, cron_timezone }, time),
    inputs: asJson(changedInputs([], inputs)),
    ref: await resolveRef(context, ref),
    created_at: time,
    updated_at: time,
  };
  const most = limitOf((await services.instance.read()).limits, 'ci_pipeline_schedules');
  return inTransaction(services.database.db, async (tx) => {
    await lockParent(tx, subject);
    requirePlace(await countSchedules(tx, subject), most, 'pipeline schedules');
    const { id } = await tx
      .insertInto('pipeline_schedules')
      .values(values)
      .returning('id')
      .executeTakeFirstOrThrow();
    await audit(tx, context, 'created', { id, description });
    return found(await selectSchedule(tx, subject, id), 'PipelineSchedule');
  });
}

/** Changes what the request names; 404 without the schedule, 403 for another's, 400 as for new ones. */
export async function updateSchedule(
  context: Creator,
  id: number,
  { inputs, ref, ...given }: Changes,
): Promise<ScheduleRow> {
  const named = ref === undefined ? {} : { ref: await resolveRef(context, ref) };
  return inTransaction(context.services.database.db, async (tx) => {
    const row = await lockOwn(tx, context, id);
    const time = now();
    const after = { ...row, ...given, ...named };
    const isTimed =
      after.cron !== row.cron || after.cron_timezone !== row.cron_timezone || (after.active && !row.active);
    await tx
      .updateTable('pipeline_schedules')
      .set({
        ...given,
        ...named,
        ...(isTimed && { next_run_at: requireNextRun(after, time) }),
        ...(inputs && { inputs: asJson(changedInputs(row.inputs as Input[], inputs)) }),
        updated_at: time,
      })
      .where('id', '=', id)
      .execute();
    await audit(tx, context, 'updated', after);
    return found(await selectSchedule(tx, context.subject, id), 'PipelineSchedule');
  });
}

/** Makes the schedule the caller's; tells whether it was before. 403 below Maintainer. */
export const takeOwnership = (context: Creator, id: number): Promise<{ row: ScheduleRow; wasOwn: boolean }> =>
  inTransaction(context.services.database.db, async (tx) => {
    const { actor, subject } = context;
    const row = await lockAdministered(tx, context, id);
    if (row.owner_id === actor.id) return { row, wasOwn: true };
    await tx
      .updateTable('pipeline_schedules')
      .set({ owner_id: actor.id, updated_at: now() })
      .where('id', '=', id)
      .execute();
    await audit(tx, context, 'owner_changed', row);
    return { row: found(await selectSchedule(tx, subject, id), 'PipelineSchedule'), wasOwn: false };
  });

/** Deletes the schedule; its pipelines stay. */
export const deleteSchedule = (
  context: Creator,
  id: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(context.services.database.db, async (tx) => {
    const row = await lockAdministered(tx, context, id);
    unmodified(row.updated_at);
    await ahead(tx).deleteFrom('pipeline_schedules').where('id', '=', id).execute();
    await audit(tx, context, 'deleted', row);
  });

type Given = { key: string; value: string; variable_type?: Variable['variable_type'] };

function columnsOf({ services }: Creator, given: Given) {
  const variable = newVariable(given);
  const problems = problemsOf(variable);
  if (Object.keys(problems).length > 0) throw invalid(problems);
  const { key, value, variable_type } = variable;
  return { key, value_sealed: seal(services.secretKey, value), variable_type, updated_at: now() };
}

/** Makes a variable; 400 for a key or value that cannot be, is taken, or is one too many. */
export const createScheduleVariable = (
  context: Creator,
  id: number,
  given: Given,
): Promise<ScheduleVariableRow> =>
  inTransaction(context.services.database.db, async (tx) => {
    const row = await lockOwn(tx, context, id);
    requirePlace((await selectScheduleVariables(tx, id)).length, MAX_VARIABLES, 'variables');
    await audit(tx, context, 'updated', row);
    return tx
      .insertInto('pipeline_schedule_variables')
      .values({ ...columnsOf(context, given), schedule_id: id })
      .returningAll()
      .executeTakeFirstOrThrow();
  });

/** Changes a variable's value or type; 404 without it. */
export const updateScheduleVariable = (
  context: Creator,
  id: number,
  { key, value, variable_type }: Partial<Given> & { key: string },
): Promise<ScheduleVariableRow> =>
  inTransaction(context.services.database.db, async (tx) => {
    const row = await lockOwn(tx, context, id);
    const before = found(await selectScheduleVariable(tx, id, key), 'Variable');
    await audit(tx, context, 'updated', row);
    const { value_sealed } = value === undefined ? before : columnsOf(context, { key, value });
    return tx
      .updateTable('pipeline_schedule_variables')
      .set({ value_sealed, variable_type: variable_type ?? before.variable_type, updated_at: now() })
      .where('id', '=', before.id)
      .returningAll()
      .executeTakeFirstOrThrow();
  });

/** Deletes a variable, and gives what it was; 404 without it. */
export const deleteScheduleVariable = (
  context: Creator,
  id: number,
  key: string,
  unmodified: (updatedAt: Date) => void,
): Promise<ScheduleVariableRow> =>
  inTransaction(context.services.database.db, async (tx) => {
    const row = await lockAdministered(tx, context, id);
    const variable = found(await selectScheduleVariable(tx, id, key), 'Variable');
    unmodified(variable.updated_at);
    await ahead(tx).deleteFrom('pipeline_schedule_variables').where('id', '=', variable.id).execute();
    await audit(tx, context, 'updated', row);
    return variable;
  });
