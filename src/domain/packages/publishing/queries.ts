/** Finds packages and files by what programs name them. */
import { type SqlBool, sql } from 'kysely';
import type { ProjectIds } from '../../../kernel/access/package-access.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { FetchedFile, PackageRow } from '../records/queries.ts';
import { installable, type PackageType } from '../records/types.ts';

/** What a package is known by in its project. */
export type PackageKey = { type: PackageType; name: string; version: string | null };

/**
 * The newest file of the name in a package that programs install. Of several projects the one with the newest package counts; what
 * is about all versions comes from the one that published last.
 */
export const selectFileByKey = (
  db: Db,
  projects: ProjectIds,
  { type, name, version }: PackageKey,
  fileName: string,
): Promise<FetchedFile | undefined> =>
  db
    .selectFrom('package_files')
    .innerJoin('packages', 'packages.id', 'package_files.package_id')
    .selectAll('package_files')
    .select('packages.last_downloaded_at')
    .where(sql<SqlBool>`packages.project_id in ${projects}`)
    .where('packages.package_type', '=', type)
    .where('packages.name', '=', name)
    // No index serves `is not distinct from`.
    .where('packages.version', version === null ? 'is' : '=', version)
    .where('packages.status', 'in', [...installable])
    .where('package_files.file_name', '=', fileName)
    .orderBy(version === null ? 'package_files.id' : 'packages.id', 'desc')
    .orderBy('package_files.id', 'desc')
    .limit(1)
    .executeTakeFirst();

/** Whether the package has a file of the name. */
export const selectHasFile = async (
  db: Db,
  { id }: Pick<PackageRow, 'id'>,
  fileName: string,
): Promise<boolean> => {
  const row = await db
    .selectFrom('package_files')
    .select('id')
    .where('package_id', '=', id)
    .where('file_name', '=', fileName)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
};
