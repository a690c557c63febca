/** Feature flags of a project. */
import { type Selectable, sql } from 'kysely';
import type { AuthorizedProject } from '../../kernel/access/find.ts';
import type { Db } from '../../platform/db/database.ts';
import type { Sql } from '../../platform/db/driver/sql.ts';
import type { Json, ProjectFeatureFlagsTable } from '../../platform/db/rows.ts';
import { type Page, type PageRequest, selectPage } from '../../platform/pagination/page.ts';
import { mapInTurns } from '../../platform/turns.ts';

export type FeatureFlagRow = Selectable<ProjectFeatureFlagsTable>;

const selectFlags = (db: Db, project: AuthorizedProject) =>
  db.selectFrom('project_feature_flags').selectAll().where('project_id', '=', project.id);

/** A page, by name. */
export function selectFeatureFlags(
  db: Db,
  project: AuthorizedProject,
  scope: 'enabled' | 'disabled' | undefined,
  page: PageRequest,
): Promise<Page<FeatureFlagRow>> {
  const all = selectFlags(db, project);
  const query = scope === undefined ? all : all.where('active', '=', scope === 'enabled');
  return selectPage(db, query, page, { by: 'name', sort: 'asc' }, { name: 'name', id: 'id' });
}

/** Of a project with very many flags, so many are for programs. */
const MAX_CLIENT_FLAGS = 5_000;

/** Flags that are read by one statement: each may be as long as the body of a request. */
const READ_AT_ONCE = 100;

type ClientFlagRow = Pick<FeatureFlagRow, 'name' | 'description' | 'active' | 'strategies'>;

/** For programs: by name. Strategies come as text, which counts to what the caller holds; 429 for too much. */
export async function selectAllFlags(
  db: Db,
  { id }: Pick<AuthorizedProject, 'id'>,
): Promise<ClientFlagRow[]> {
  const flags: ClientFlagRow[] = [];
  for (;;) {
    const rows = await db
      .selectFrom('project_feature_flags')
      .select(['name', 'description', 'active', sql<string>`strategies::text`.as('strategies')])
      .where('project_id', '=', id)
      .where('name', '>', flags.at(-1)?.name ?? '')
      .orderBy('name')
      .limit(READ_AT_ONCE)
      .execute();
    const read = await mapInTurns(rows, (row) => ({
      ...row,
      strategies: JSON.parse(row.strategies) as Json,
    }));
    flags.push(...read);
    if (rows.length < READ_AT_ONCE || flags.length >= MAX_CLIENT_FLAGS) return flags;
  }
}

/** Of the token of a project's programs: 0 until it is reset. */
export async function selectGeneration(sql: Sql, projectId: number): Promise<number> {
  const [row] = await sql<{ generation: number }[]>`
    select generation from feature_flag_clients where project_id = ${projectId}`;
  return row?.generation ?? 0;
}

export const selectFeatureFlag = (
  db: Db,
  project: AuthorizedProject,
  name: string,
): Promise<FeatureFlagRow | undefined> =>
  selectFlags(db, project).where('name', '=', name).executeTakeFirst();

export const selectFeatureFlagById = (db: Db, id: number): Promise<FeatureFlagRow | undefined> =>
  db.selectFrom('project_feature_flags').selectAll().where('id', '=', id).executeTakeFirst();

export const selectNewestFeatureFlag = (db: Db, projectId: number): Promise<FeatureFlagRow | undefined> =>
  db
    .selectFrom('project_feature_flags')
    .selectAll()
    .where('project_id', '=', projectId)
    .orderBy('id', 'desc')
    .executeTakeFirst();

/** The flag, locked until the commit, so that concurrent changes take turns. */
export const lockFeatureFlag = (
  tx: Db,
  project: AuthorizedProject,
  name: string,
): Promise<FeatureFlagRow | undefined> =>
  selectFlags(tx, project).where('name', '=', name).forUpdate().executeTakeFirst();

/** Ids for strategies and scopes, which are parts of a flag's row and use its sequence. */
export async function reserveIds(tx: Db, count: number): Promise<number[]> {
  if (count === 0) return [];
  const { rows } = await sql<{ id: number }>`
    select nextval(pg_get_serial_sequence('project_feature_flags', 'id')) as id
    from generate_series(1, ${count})`.execute(tx);
  return rows.map((row) => row.id);
}
