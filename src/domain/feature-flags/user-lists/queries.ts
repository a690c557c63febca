/** Lists of users of a project. */
import { type Selectable, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { FeatureFlagUserListsTable } from '../../../platform/db/rows.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';

export type UserListRow = Selectable<FeatureFlagUserListsTable>;

const selectLists = (db: Db, project: Pick<AuthorizedProject, 'id'>) =>
  db.selectFrom('feature_flag_user_lists').selectAll().where('project_id', '=', project.id);

/** A page, by number. */
export function selectUserLists(
  db: Db,
  project: AuthorizedProject,
  search: string | undefined,
  page: PageRequest,
): Promise<Page<UserListRow>> {
  const all = selectLists(db, project);
  const query = search
    ? all.where(sql<boolean>`position(lower(${search}) in lower(name collate "default")) > 0`)
    : all;
  return selectPage(db, query, page, { by: 'iid', sort: 'asc' }, { iid: 'iid', id: 'id' });
}

export const selectUserList = (
  db: Db,
  project: AuthorizedProject,
  iid: number,
): Promise<UserListRow | undefined> => selectLists(db, project).where('iid', '=', iid).executeTakeFirst();

/** The list, locked until the commit. */
export const lockUserList = (
  tx: Db,
  project: AuthorizedProject,
  iid: number,
): Promise<UserListRow | undefined> =>
  selectLists(tx, project).where('iid', '=', iid).forUpdate().executeTakeFirst();

/** Lists that are read by one statement. */
const READ_AT_ONCE = 100;

/** Those of these ids that are the project's, by id. */
export async function selectListsById(
  db: Db,
  project: Pick<AuthorizedProject, 'id'>,
  ids: readonly number[],
): Promise<ReadonlyMap<number, UserListRow>> {
  const found = new Map<number, UserListRow>();
  const wanted = [...new Set(ids)];
  // What is read counts to what the caller holds: where that is too much, the rest is not read.
  for (let at = 0; at < wanted.length; at += READ_AT_ONCE) {
    const some = wanted.slice(at, at + READ_AT_ONCE);
    const rows = await selectLists(db, project)
      .where('id', '=', sql<number>`any(${some}::bigint[])`)
      .execute();
    for (const row of rows) found.set(row.id, row);
  }
  return found;
}

/** The ids among these that are the project's; they stay until the commit. */
export async function keepLists(
  tx: Db,
  project: Pick<AuthorizedProject, 'id'>,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  if (ids.length === 0) return new Set();
  const rows = await tx
    .selectFrom('feature_flag_user_lists')
    .select('id')
    .where('project_id', '=', project.id)
    .where('id', '=', sql<number>`any(${[...new Set(ids)]}::bigint[])`)
    .orderBy('id')
    .forKeyShare()
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** Whether a strategy of a flag of the project names the list. */
export async function isListUsed(tx: Db, { id, project_id }: UserListRow): Promise<boolean> {
  const { rows } = await sql<{ used: boolean }>`
    select exists (select from project_feature_flags where project_id = ${project_id}
      and strategies @> ${JSON.stringify([{ user_list_id: id }])}::text::jsonb) as used`.execute(tx);
  return rows[0]?.used === true;
}
