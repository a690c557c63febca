/** NuGet packages of a project, or of the projects below a group; their names and versions are the same in any case. */
import { type RawBuilder, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { ProjectIds } from '../../../kernel/access/package-access.ts';
import type { Db } from '../../../platform/db/database.ts';
import { oneDocument } from '../records/one-document-queries.ts';
import type { FetchedFile, PackageRow } from '../records/queries.ts';
import { installable } from '../records/types.ts';
import type { Description } from './rules.ts';

const published = (projects: ProjectIds): RawBuilder<unknown> => sql`
  p.project_id in ${projects} and p.package_type = 'nuget' and p.status = any(${[...installable]}::text[])`;

export type VersionRow = {
  project_id: number;
  name: string;
  version: string;
  created_at: Date;
  description: Description;
  /** Of its newest archive. */
  sha256: Buffer | null;
};

/** The newest archive of a version. */
const archiveDigest = sql`(
  select f.sha256 from package_files f where f.package_id = versions.id and f.file_name like '%.nupkg' order by f.id desc limit 1)`;

/** The versions of a name, or one of them, in no order; of several projects with the same one, the newest package. */
export async function selectVersions(
  db: Db,
  projects: ProjectIds,
  name: string,
  version?: string,
): Promise<VersionRow[]> {
  const one = version === undefined ? sql`` : sql`and lower(p.version) = ${version.toLowerCase()}`;
  const newest = sql`
    select distinct on (lower(p.version)) p.id, p.project_id, p.name, p.version, p.created_at, p.metadata as description
    from packages p where ${published(projects)} and lower(p.name) = ${name.toLowerCase()} ${one}
    order by lower(p.version), p.id desc`;
  const { rows } = await sql<VersionRow>`
    select project_id, name, version, created_at, description, ${archiveDigest} as sha256
    from ${oneDocument(newest)} versions`.execute(db);
  return rows;
}

export type SearchInput = { q: string; skip: number; take: number; prerelease: boolean };

/** How many names have the text in them, and the versions of those on the page, by name. */
export async function searchVersions(
  db: Db,
  projects: ProjectIds,
  { q, skip, take, prerelease }: SearchInput,
): Promise<{ total: number; versions: VersionRow[] }> {
  const found = sql`
    select lower(p.name) as key from packages p
    where ${published(projects)} and strpos(lower(p.name), ${q.toLowerCase()}) > 0
      and (${prerelease} or strpos(p.version, '-') = 0)
    group by lower(p.name)`;
  const { rows } = await sql<{ total: number; keys: string[] }>`
    with found as (${found})
    select (select count(*) from found)::int as total,
      array(select key from found order by key offset ${skip} limit ${take}) as keys`.execute(db);
  const [{ total, keys } = { total: 0, keys: [] }] = rows;
  if (keys.length === 0) return { total, versions: [] };
  const newest = sql`
    select distinct on (lower(p.name), lower(p.version))
      p.id, p.project_id, p.name, p.version, p.created_at, p.metadata - 'dependencies' as description
    from packages p where ${published(projects)} and lower(p.name) = any(${keys}::text[])
      and (${prerelease} or strpos(p.version, '-') = 0)
    order by lower(p.name), lower(p.version), p.id desc`;
  const versions = await sql<VersionRow>`
    select project_id, name, version, created_at, description, null::bytea as sha256
    from ${oneDocument(newest)} versions order by lower(name)`.execute(db);
  return { total, versions: versions.rows };
}

/** The newest file of the name. */
export async function selectPackageFile(
  db: Db,
  projects: ProjectIds,
  { name, version, fileName }: { name: string; version: string; fileName: string },
): Promise<FetchedFile | undefined> {
  const { rows } = await sql<FetchedFile>`
    select f.*, p.last_downloaded_at from packages p join package_files f on f.package_id = p.id
    where ${published(projects)} and lower(p.name) = ${name.toLowerCase()} and lower(p.version) = ${version.toLowerCase()}
      and f.file_name = ${fileName.toLowerCase()} order by f.id desc limit 1`.execute(db);
  return rows[0];
}

type Named = Pick<PackageRow, 'name' | 'version'>;

/** How the project spells the version already, or else the name; undefined where it has neither. */
export async function selectSpelling(
  db: Db,
  { id }: Pick<AuthorizedProject, 'id'>,
  { name, version }: { name: string; version: string },
): Promise<Named | undefined> {
  const { rows } = await sql<Named>`
    select name, case when lower(version) = ${version.toLowerCase()} then version else ${version} end as version
    from packages where project_id = ${id} and package_type = 'nuget' and lower(name) = ${name.toLowerCase()}
    order by lower(version) = ${version.toLowerCase()} desc, id limit 1`.execute(db);
  return rows[0];
}

/** Locked until the transaction ends. */
export async function lockVersion(
  tx: Db,
  { id }: Pick<AuthorizedProject, 'id'>,
  { name, version }: { name: string; version: string },
): Promise<PackageRow | undefined> {
  const { rows } = await sql<PackageRow>`
    select * from packages where project_id = ${id} and package_type = 'nuget' and lower(name) = ${name.toLowerCase()}
      and lower(version) = ${version.toLowerCase()} for update`.execute(tx);
  return rows[0];
}
