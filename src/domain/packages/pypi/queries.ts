/** Python packages as indexes list them, of a project or of the projects below a group. */
import { type RawBuilder, sql } from 'kysely';
import type { ProjectIds } from '../../../kernel/access/package-access.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { FetchedFile } from '../records/queries.ts';
import { installable } from '../records/types.ts';

/** Of one index: one document has them all. */
const MAX_NAMES = 50_000;
const MAX_FILES = 10_000;

const published = (projects: ProjectIds): RawBuilder<unknown> => sql`
  p.project_id in ${projects} and p.package_type = 'pypi' and p.status = any(${[...installable]}::text[])`;

/** Normal names, in their order. */
export async function selectNames(db: Db, projects: ProjectIds): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct name from packages p where ${published(projects)} order by name limit ${MAX_NAMES}`.execute(
    db,
  );
  return rows.map(({ name }) => name);
}

export type IndexedFile = {
  project_id: number;
  file_name: string;
  sha256: Buffer;
  size: number;
  requires_python: string | null;
};

/** The files of all versions of a name, the newest first. */
export async function selectIndexed(db: Db, projects: ProjectIds, name: string): Promise<IndexedFile[]> {
  const { rows } = await sql<IndexedFile>`
    select p.project_id, f.file_name, f.sha256, f.size, f.metadata ->> 'requires_python' as requires_python
    from packages p join package_files f on f.package_id = p.id
    where ${published(projects)} and p.name = ${name} order by f.id desc limit ${MAX_FILES}`.execute(db);
  return rows;
}

/** The file of this name and digest. */
export async function selectDistribution(
  db: Db,
  projects: ProjectIds,
  { sha256, fileName }: { sha256: Buffer; fileName: string },
): Promise<FetchedFile | undefined> {
  const { rows } = await sql<FetchedFile>`
    select f.*, p.last_downloaded_at from package_files f join packages p on p.id = f.package_id
    where f.sha256 = ${sha256} and f.file_name = ${fileName} and ${published(projects)} order by f.id desc limit 1`.execute(
    db,
  );
  return rows[0];
}

export async function hasFile(tx: Db, packageId: number, fileName: string): Promise<boolean> {
  const { rows } = await sql`
    select from package_files where package_id = ${packageId} and file_name = ${fileName} limit 1`.execute(
    tx,
  );
  return rows.length > 0;
}
