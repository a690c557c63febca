/** Statements over imports. */
import type { Selectable } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { ImportFailuresTable, ImportsTable } from '../../../platform/db/rows.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import type { Owner } from '../relations/export-queries.ts';

export type ImportRow = Selectable<ImportsTable>;
export type FailureRow = Selectable<ImportFailuresTable>;

/** What the request says besides the archive. */
export type ImportOptions = {
  /** Values that take the place of those in the archive. */
  override?: Readonly<Record<string, unknown>>;
  /** An administrator imports: people are found by the addresses that they publish. */
  by_admin: boolean;
  /** How visible the project or group becomes at most. */
  visibility?: number;
  /** Memberships of the archive are not taken. */
  withoutMembers?: boolean;
  /** What is there goes when the rest comes. */
  overwrite?: boolean;
  /** All rows are there: what a killed process left is to be gone on with. */
  committed?: { snippets: readonly WaitingSnippet[] };
};

/** A snippet that waits for its repository. */
export type WaitingSnippet = { id: number; bundle: string; branch: string; files: readonly string[] };

/** The last import that made or replaced the project. */
export const selectImport = (db: Db, { column, id }: Owner): Promise<ImportRow | undefined> =>
  db
    .selectFrom('imports')
    .selectAll()
    .where(column, '=', id)
    .where('relation', 'is', null)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();

const relationImports = (db: Db, projectId: number) =>
  db.selectFrom('imports').selectAll().where('project_id', '=', projectId).where('relation', 'is not', null);

export const selectRelationImports = (
  db: Db,
  projectId: number,
  page: PageRequest,
): Promise<Page<ImportRow>> =>
  selectPage(db, relationImports(db, projectId), page, { by: 'id', sort: 'desc' }, { id: 'imports.id' });

export const selectNewestRelationImport = (db: Db, projectId: number): Promise<ImportRow | undefined> =>
  relationImports(db, projectId).orderBy('id', 'desc').limit(1).executeTakeFirst();

/** So many, as the public API has it. */
const MAX_SHOWN = 100;

export const selectFailures = (db: Db, importId: number): Promise<FailureRow[]> =>
  db
    .selectFrom('import_failures')
    .selectAll()
    .where('import_id', '=', importId)
    .orderBy('id')
    .limit(MAX_SHOWN)
    .execute();

/** Written by insertImport() alone. */
export const optionsOf = ({ options }: Pick<ImportRow, 'options'>): ImportOptions => options as ImportOptions;

/** Branches that are judged again; those of more wait for their next push. */
const MAX_JUDGED = 1_000;

/** The branches into which merge requests are open. */
export async function selectOpenTargets(db: Db, projectId: number): Promise<string[]> {
  const found = await db
    .selectFrom('merge_requests')
    .select('target_branch')
    .distinct()
    .where('project_id', '=', projectId)
    .where('state', '=', 'opened')
    .limit(MAX_JUDGED)
    .execute();
  return found.map(({ target_branch }) => target_branch);
}
