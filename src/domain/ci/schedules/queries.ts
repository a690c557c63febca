/** Reads the pipeline schedules of a project, with their owners. */
import type { Selectable } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { PipelineScheduleVariablesTable } from '../../../platform/db/rows.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import { type PipelineRow, pipelinesOf } from '../pipelines/queries.ts';
import { userColumns } from '../pipelines/user-columns.ts';

const schedulesOf = (db: Db, project: Pick<AuthorizedProject, 'id'>) =>
  db
    .selectFrom('pipeline_schedules')
    .leftJoin('users', 'users.id', 'pipeline_schedules.owner_id')
    .selectAll('pipeline_schedules')
    .select(userColumns)
    .where('pipeline_schedules.project_id', '=', project.id);

const scheduleOf = (db: Db, project: Pick<AuthorizedProject, 'id'>, id: number) =>
  schedulesOf(db, project).where('pipeline_schedules.id', '=', id);

export type ScheduleRow = NonNullable<Awaited<ReturnType<typeof selectSchedule>>>;
export type ScheduleVariableRow = Selectable<PipelineScheduleVariablesTable>;

/** One page, oldest first. */
export function selectSchedules(
  db: Db,
  project: AuthorizedProject,
  scope: 'active' | 'inactive' | undefined,
  page: PageRequest,
): Promise<Page<ScheduleRow>> {
  const all = schedulesOf(db, project);
  const query = scope === undefined ? all : all.where('pipeline_schedules.active', '=', scope === 'active');
  return selectPage(db, query, page, { by: 'id', sort: 'asc' }, { id: 'pipeline_schedules.id' });
}

export const selectSchedule = (db: Db, project: Pick<AuthorizedProject, 'id'>, id: number) =>
  scheduleOf(db, project, id).executeTakeFirst();

/** Locked until the transaction ends, and so are its variables. */
export const lockSchedule = (tx: Db, project: AuthorizedProject, id: number) =>
  scheduleOf(tx, project, id).forUpdate('pipeline_schedules').executeTakeFirst();

export async function countSchedules(tx: Db, project: AuthorizedProject): Promise<number> {
  const { count } = await tx
    .selectFrom('pipeline_schedules')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('project_id', '=', project.id)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Oldest first. */
export const selectScheduleVariables = (db: Db, scheduleId: number): Promise<ScheduleVariableRow[]> =>
  db
    .selectFrom('pipeline_schedule_variables')
    .selectAll()
    .where('schedule_id', '=', scheduleId)
    .orderBy('id')
    .execute();

export const selectScheduleVariable = (
  db: Db,
  scheduleId: number,
  key: string,
): Promise<ScheduleVariableRow | undefined> =>
  db
    .selectFrom('pipeline_schedule_variables')
    .selectAll()
    .where('schedule_id', '=', scheduleId)
    .where('key', '=', key)
    .executeTakeFirst();

/** The newest pipeline that the schedule made. */
export const selectLastOf = (
  db: Db,
  project: AuthorizedProject,
  scheduleId: number,
): Promise<PipelineRow | undefined> =>
  pipelinesOf(db, project)
    .where('pipelines.schedule_id', '=', scheduleId)
    .orderBy('pipelines.id', 'desc')
    .limit(1)
    .executeTakeFirst();
