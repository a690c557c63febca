/** What there is of a Maven package in its project. */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { FetchedFile, PackageRow } from '../records/queries.ts';
import { METADATA, STAMP, withoutStamp } from './rules.ts';

type Project = Pick<AuthorizedProject, 'id'>;

const mavenPackages = (db: Db, { id }: Project) =>
  db.selectFrom('packages').where('project_id', '=', id).where('package_type', '=', 'maven');

/** The package of all versions of the name, locked until the transaction ends. */
export const lockVersionless = (tx: Db, project: Project, name: string): Promise<PackageRow | undefined> =>
  mavenPackages(tx, project)
    .selectAll()
    .where('name', '=', name)
    .where('version', 'is', null)
    .forUpdate()
    .executeTakeFirst();

/** The newest metadata that it has. */
export const selectMetadata = (
  db: Db,
  { id }: Pick<PackageRow, 'id'>,
): Promise<Omit<FetchedFile, 'last_downloaded_at'> | undefined> =>
  db
    .selectFrom('package_files')
    .selectAll()
    .where('package_id', '=', id)
    .where('file_name', '=', METADATA)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();

export async function selectVersions(db: Db, project: Project, name: string): Promise<Set<string>> {
  const rows = await mavenPackages(db, project)
    .select('version')
    .where('name', '=', name)
    .where('version', 'is not', null)
    .execute();
  return new Set(rows.map(({ version }) => version ?? ''));
}

/** Those of the names of which there is a version. */
export async function selectVersioned(
  db: Db,
  project: Project,
  names: readonly string[],
): Promise<Set<string>> {
  if (names.length === 0) return new Set();
  const rows = await mavenPackages(db, project)
    .select('name')
    .distinct()
    .where('name', 'in', [...names])
    .where('version', 'is not', null)
    .execute();
  return new Set(rows.map(({ name }) => name));
}

/** Whether a version has a file of the name, if that of another snapshot. */
export async function selectIsThere(
  db: Db,
  { id }: Pick<PackageRow, 'id'>,
  fileName: string,
): Promise<boolean> {
  const { rows } = await sql`
    select from package_files
    where package_id = ${id} and regexp_replace(file_name, ${STAMP}, '') = ${withoutStamp(fileName)} limit 1`.execute(
    db,
  );
  return rows.length > 0;
}
