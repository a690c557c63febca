/** Reads mirrors. */
import { type Selectable, sql } from 'kysely';
import type { Db } from '../../platform/db/database.ts';
import type { MirrorsTable } from '../../platform/db/rows.ts';
import { type Page, type PageRequest, selectPage } from '../../platform/pagination/page.ts';

export type MirrorRow = Selectable<MirrorsTable>;
type Project = { id: number };

const mirrorsOf = (db: Db, { id }: Project, kind: 'pull' | 'push') =>
  db.selectFrom('mirrors').selectAll().where('project_id', '=', id).where('kind', '=', kind);

/** Where the project comes from, whether it still follows it or not. */
export const selectSource = (db: Db, project: Project): Promise<MirrorRow | undefined> =>
  mirrorsOf(db, project, 'pull').executeTakeFirst();

/** The same, locked until the transaction ends. */
export const lockSource = (tx: Db, project: Project): Promise<MirrorRow | undefined> =>
  mirrorsOf(tx, project, 'pull').forUpdate().executeTakeFirst();

/** The same of several projects, by their ids. */
export async function selectSources(db: Db, projectIds: readonly number[]): Promise<Map<number, MirrorRow>> {
  if (projectIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('mirrors')
    .selectAll()
    .where('project_id', '=', sql<number>`any(${[...projectIds]}::bigint[])`)
    .where('kind', '=', 'pull')
    .execute();
  return new Map(rows.map((row) => [row.project_id, row]));
}

/** One page of those that the project is pushed to, oldest first. */
export const selectPushMirrors = (db: Db, project: Project, page: PageRequest): Promise<Page<MirrorRow>> =>
  selectPage(db, mirrorsOf(db, project, 'push'), page, { by: 'id', sort: 'asc' }, { id: 'mirrors.id' });

export const selectPushMirror = (db: Db, project: Project, id: number): Promise<MirrorRow | undefined> =>
  mirrorsOf(db, project, 'push').where('id', '=', id).executeTakeFirst();

export const lockPushMirror = (tx: Db, project: Project, id: number): Promise<MirrorRow | undefined> =>
  mirrorsOf(tx, project, 'push').where('id', '=', id).forUpdate().executeTakeFirst();

/** How many the project is pushed to that are on, and how many there are. */
export async function countPushMirrors(tx: Db, { id }: Project): Promise<{ all: number; enabled: number }> {
  const { rows } = await sql<{ all: number; enabled: number }>`
    select count(*) as "all", count(*) filter (where enabled) as enabled
    from mirrors where project_id = ${id} and kind = 'push'`.execute(tx);
  return rows[0] ?? { all: 0, enabled: 0 };
}

export const selectMirror = (db: Db, id: number): Promise<MirrorRow | undefined> =>
  db.selectFrom('mirrors').selectAll().where('id', '=', id).executeTakeFirst();

/** Whether anything is pushed to at all. */
export async function selectPushFlag(db: Db): Promise<ReadonlySet<string>> {
  const { rows } = await sql`select from mirrors where kind = 'push' and enabled limit 1`.execute(db);
  return new Set(rows.length > 0 ? [ANY_PUSH] : []);
}
export const ANY_PUSH = 'push';
