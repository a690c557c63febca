/** Statements over aliases of projects. */
import type { Selectable } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import type { ProjectAliasesTable } from '../../../platform/db/rows.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';

export type AliasRow = Selectable<ProjectAliasesTable>;

/** One page, oldest first. */
export const selectAliases = (db: Db, page: PageRequest): Promise<Page<AliasRow>> =>
  selectPage(
    db,
    db.selectFrom('project_aliases').selectAll(),
    page,
    { by: 'id', sort: 'asc' },
    { id: 'project_aliases.id' },
  );

export const selectAlias = (db: Db, name: string): Promise<AliasRow | undefined> =>
  db
    .selectFrom('project_aliases')
    .selectAll()
    .where((eb) => eb(eb.fn('lower', ['name']), '=', name.toLowerCase()))
    .executeTakeFirst();

/** The alias, locked until the transaction ends. */
export const lockAlias = (tx: Db, name: string): Promise<AliasRow | undefined> =>
  tx
    .selectFrom('project_aliases')
    .selectAll()
    .where((eb) => eb(eb.fn('lower', ['name']), '=', name.toLowerCase()))
    .forUpdate()
    .executeTakeFirst();

/** The id of the project of the alias, whoever may see it; undefined for no alias. */
export async function findAliased(sql: Sql, name: string): Promise<number | undefined> {
  const [row] = await sql<{ project_id: number }[]>`
    select project_id from project_aliases where lower(name) collate "C" = ${name.toLowerCase()}`;
  return row?.project_id;
}
