/** What is in distributions: files, releases and indexes. */
import { type Selectable, sql } from 'kysely';
import type { ProjectIds } from '../../../kernel/access/package-access.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { DebianReleasesTable } from '../../../platform/db/rows.ts';
import type { FetchedFile, PackageFileRow, PackageRow } from '../records/queries.ts';
import type { DistributionRow } from './distribution-queries.ts';
import type { IndexedFile } from './index-documents.ts';
import { ALL, type Pooled } from './rules.ts';

export type ReleaseRow = Selectable<DebianReleasesTable>;

/** A distribution of a project, whose files are shown. */
export type Origin = { id: number; project_id: number };

/** Of a group: one request looks for the files of all of them. */
const MAX_ORIGINS = 10_000;
/** Of one release: all that is said of them is in memory at once, and in its indexes together. */
const MAX_FILES = 50_000;
const MAX_CHARACTERS = 33_554_432;

/** The distributions of the same codename in projects that the caller reads; of a project, its own alone. */
export async function selectOrigins(
  db: Db,
  { id, codename, project_id }: DistributionRow,
  projects: ProjectIds,
): Promise<Origin[]> {
  if (project_id !== null) return [{ id, project_id }];
  const { rows } = await sql<Origin>`
    select id, project_id from debian_distributions
    where codename = ${codename} and project_id in ${projects} order by id limit ${MAX_ORIGINS}`.execute(db);
  return rows;
}

const idsOf = (origins: readonly Origin[]) => sql`${origins.map(({ id }) => id)}::bigint[]`;

/** What indexes have: another one whenever a file came or went, since an id is never there again. */
export type State = { files: string; first: number | null };

/** Of all files, or of the newest where there are too many. What is for all architectures is in the index of each. */
export async function selectState(
  db: Db,
  { architectures }: Pick<DistributionRow, 'architectures'>,
  origins: readonly Origin[],
): Promise<State> {
  const { rows } = await sql<State>`
    with counted as (
      select file_id,
        sum(stanza_length * case when architecture = ${ALL} then ${architectures.length}::integer else 1 end)
          over (order by file_id desc) as characters
      from debian_files
      where distribution_id = any(${idsOf(origins)}) and kind <> 'other' order by file_id desc limit ${MAX_FILES})
    select count(*) || ' ' || coalesce(sum(hashint8extended(file_id, 0)), 0) as files, min(file_id) as first
    from counted where characters <= ${MAX_CHARACTERS}`.execute(db);
  return rows[0] ?? { files: '', first: null };
}

/** A file with its part in the state. */
export type CountedFile = IndexedFile & { file_id: number; hash: string };

/** Of one statement. */
export const FILES_READ = 500;

/** The next of the files behind an id, the oldest first. */
export async function selectIndexed(
  db: Db,
  origins: readonly Origin[],
  after: number,
): Promise<CountedFile[]> {
  const { rows } = await sql<CountedFile>`
    select f.file_id, hashint8extended(f.file_id, 0)::text as hash, p.project_id, p.name, p.version, f.file_name,
      f.component, f.kind, f.architecture, f.stanza
    from debian_files f join packages p on p.id = f.package_id
    where f.distribution_id = any(${idsOf(origins)}) and f.kind <> 'other' and f.file_id > ${after}
    order by f.file_id limit ${FILES_READ}`.execute(db);
  return rows;
}

/** One that is signed. */
export type Release = ReleaseRow & { release: string; signed_release: string; signature: string };

/** Whose packages a release shows, in one order whatever distribution was made first. */
export const projectsOf = (origins: readonly Origin[]): number[] =>
  origins.map(({ project_id }) => project_id).sort((one, other) => one - other);

/** The newest of these projects: programs take none that is older than the one they know, also when a state comes back. */
export async function selectRelease(
  db: Db,
  distribution: Pick<DistributionRow, 'id'>,
  origins: readonly Origin[],
  fingerprint: Buffer,
): Promise<Release | undefined> {
  const { rows } = await sql<Release>`
    with newest as (
      select * from debian_releases
      where distribution_id = ${distribution.id} and project_ids = ${projectsOf(origins)}::bigint[]
        and release is not null order by id desc limit 1)
    select * from newest where fingerprint = ${fingerprint}`.execute(db);
  return rows[0];
}

export type IndexRow = { path: string; sha256: Buffer };

export const selectIndex = (
  db: Db,
  release: Pick<Release, 'id'>,
  path: string,
): Promise<IndexRow | undefined> =>
  db
    .selectFrom('debian_indexes')
    .select(['path', 'sha256'])
    .where('release_id', '=', release.id)
    .where('path', '=', path)
    .executeTakeFirst();

/** One with the digest, also of releases before, of those that show no other projects than these. */
export async function selectIndexByHash(
  db: Db,
  distribution: Pick<DistributionRow, 'id'>,
  origins: readonly Origin[],
  { folder, sha256 }: { folder: string; sha256: Buffer },
): Promise<IndexRow | undefined> {
  const projects = origins.map((origin) => origin.project_id);
  const { rows } = await sql<IndexRow>`
    select i.path, i.sha256 from debian_releases r join debian_indexes i on i.release_id = r.id
    where r.distribution_id = ${distribution.id} and r.release is not null
      and r.project_ids <@ ${projects}::bigint[] and i.sha256 = ${sha256}
      and left(i.path, ${folder.length + 1}) = ${`${folder}/`} limit 1`.execute(db);
  return rows[0];
}

export async function selectPooled(
  db: Db,
  origins: readonly Origin[],
  { projectId, name, version, fileName }: Pooled,
): Promise<FetchedFile | undefined> {
  const among = projectId === undefined ? origins : origins.filter((each) => each.project_id === projectId);
  const { rows } = await sql<FetchedFile>`
    select pf.*, p.last_downloaded_at
    from packages p join debian_files f on f.package_id = p.id join package_files pf on pf.id = f.file_id
    where p.project_id = any(${among.map((each) => each.project_id)}::bigint[]) and p.package_type = 'debian'
      and p.name = ${name} and p.version = ${version}
      and f.distribution_id = any(${idsOf(among)}) and f.file_name = ${fileName} limit 1`.execute(db);
  return rows[0];
}

/** What waits for its description in a project, locked until the transaction ends. */
export async function lockIncoming(tx: Db, projectId: number, name: string): Promise<number | undefined> {
  const { rows } = await sql<{ id: number }>`
    select id from packages where project_id = ${projectId} and package_type = 'debian' and name = ${name}
      and version is null for update`.execute(tx);
  return rows[0]?.id;
}

export async function countFiles(tx: Db, packageId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from package_files where package_id = ${packageId}`.execute(tx);
  return rows[0]?.count ?? 0;
}

/** The newest of each of these names. */
export async function selectWaiting(
  tx: Db,
  packageId: number,
  names: readonly string[],
): Promise<PackageFileRow[]> {
  const { rows } = await sql<PackageFileRow>`
    select distinct on (file_name) * from package_files
    where package_id = ${packageId} and file_name = any(${[...names]}::text[])
    order by file_name, id desc`.execute(tx);
  return rows;
}

/**
 * A source archive of the name and the digest that came before, also with another version of the source; it stays until the
 * transaction ends. One that this version has already, in no other distribution, is preferred, and its own.
 */
export async function lockArchive(
  tx: Db,
  { id, project_id, name: source }: PackageRow,
  distribution: Pick<DistributionRow, 'id'>,
  { name, sha256 }: { name: string; sha256: string },
): Promise<{ file: PackageFileRow; isOwn: boolean } | undefined> {
  const { rows } = await sql<PackageFileRow & { is_own: boolean }>`
    select f.*, p.id = ${id} and not exists (
      select from debian_files d where d.file_id = f.id and d.distribution_id <> ${distribution.id}) as is_own
    from packages p join package_files f on f.package_id = p.id
    where p.project_id = ${project_id} and p.package_type = 'debian' and p.name = ${source}
      and p.version is not null and f.file_name = ${name} and f.sha256 = ${Buffer.from(sha256, 'hex')}
    order by is_own desc, f.id desc limit 1 for key share of f`.execute(tx);
  if (!rows[0]) return undefined;
  const { is_own, ...file } = rows[0];
  return { file, isOwn: is_own };
}

/**
 * Releases that are not among the newest of all or of those of the same projects, and those that nobody finished; with the
 * blobs of their indexes.
 */
export async function selectOld(
  db: Db,
  distribution: Pick<DistributionRow, 'id'>,
  { kept, keptOfProjects, begun }: { kept: number; keptOfProjects: number; begun: Date },
): Promise<{ ids: number[]; blobs: Buffer[] }> {
  const { rows } = await sql<{ id: number; sha256: Buffer | null }>`
    with finished as (
      select id, row_number() over (order by id desc) as place,
        row_number() over (partition by project_ids order by id desc) as place_of_projects
      from debian_releases where distribution_id = ${distribution.id} and release is not null),
    old as (
      select id from finished where place > ${kept} or place_of_projects > ${keptOfProjects}
      union all
      select id from debian_releases
      where distribution_id = ${distribution.id} and release is null and created_at < ${begun})
    select distinct old.id, i.sha256 from old left join debian_indexes i on i.release_id = old.id`.execute(
    db,
  );
  const blobs = rows.flatMap(({ sha256 }) => (sha256 ? [sha256.toString('hex')] : []));
  return {
    ids: [...new Set(rows.map(({ id }) => id))],
    blobs: [...new Set(blobs)].map((hex) => Buffer.from(hex, 'hex')),
  };
}
