/** Reads the freeze periods of a project. */
import type { Selectable } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { FreezePeriodsTable } from '../../../platform/db/rows.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import { isFrozen, MAX_FREEZE_PERIODS } from './rules.ts';

export type FreezeRow = Selectable<FreezePeriodsTable>;
type Project = Pick<AuthorizedProject, 'id'>;

const periodsOf = (db: Db, project: Project) =>
  db.selectFrom('freeze_periods').selectAll().where('project_id', '=', project.id);

/** One page, the oldest first. */
export const selectPeriods = (db: Db, project: Project, page: PageRequest): Promise<Page<FreezeRow>> =>
  selectPage(db, periodsOf(db, project), page, { by: 'id', sort: 'asc' }, { id: 'id' });

export const selectPeriod = (db: Db, project: Project, id: number): Promise<FreezeRow | undefined> =>
  periodsOf(db, project).where('id', '=', id).executeTakeFirst();

/** Locked until the transaction ends. */
export const lockPeriod = (tx: Db, project: Project, id: number): Promise<FreezeRow | undefined> =>
  periodsOf(tx, project).where('id', '=', id).forUpdate().executeTakeFirst();

export async function countPeriods(tx: Db, project: Project): Promise<number> {
  const { count } = await tx
    .selectFrom('freeze_periods')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('project_id', '=', project.id)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Whether nothing should be deployed now. */
export const selectFrozen = async (db: Db, project: Project): Promise<boolean> =>
  isFrozen(await periodsOf(db, project).limit(MAX_FREEZE_PERIODS).execute(), now());
