/** Reads sites, and counts what this one holds. */
import { type Selectable, sql } from 'kysely';
import type { Db } from '../../platform/db/database.ts';
import type { GeoSitesTable } from '../../platform/db/rows.ts';
import { type Page, type PageRequest, selectPage } from '../../platform/pagination/page.ts';
import type { DataType } from './schema.ts';

export type SiteRow = Selectable<GeoSitesTable>;

/** One page, oldest first. */
export const selectSites = (db: Db, page: PageRequest): Promise<Page<SiteRow>> =>
  selectPage(
    db,
    db.selectFrom('geo_sites').selectAll(),
    page,
    { by: 'id', sort: 'asc' },
    { id: 'geo_sites.id' },
  );

export const selectSite = (db: Db, id: number): Promise<SiteRow | undefined> =>
  db.selectFrom('geo_sites').selectAll().where('id', '=', id).executeTakeFirst();

/** All sites, locked until the transaction ends: they change one after the other. */
export async function lockSites(tx: Db): Promise<SiteRow[]> {
  await sql`lock table geo_sites in share row exclusive mode`.execute(tx);
  return tx.selectFrom('geo_sites').selectAll().orderBy('id').execute();
}

/** The ids that are no groups. */
export async function selectMissingGroups(db: Db, ids: readonly number[]): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select x.id from unnest(${[...ids]}::bigint[]) x(id)
    where not exists (select from namespaces n where n.id = x.id and n.kind = 'group' and not n.deleting)`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}

/** Beyond it nothing is counted: a status is asked for every minute. */
const MAX_COUNTED = 100_000;

const repositories = (container: string, wiki: boolean) =>
  `repositories where container = '${container}' and wiki = ${wiki}`;

/** Where the things of a type are; what there is none of here is not named. */
const places: Partial<Record<DataType | 'projects', string>> = {
  projects: 'projects where not deleting',
  ci_secure_files: 'secure_files',
  container_repositories: 'container_repositories',
  dependency_proxy_blobs: 'dependency_proxy_blobs',
  dependency_proxy_manifests: 'dependency_proxy_manifests',
  group_wiki_repositories: repositories('group', true),
  job_artifacts: 'ci_artifacts',
  lfs_objects: 'lfs_objects',
  merge_request_diffs: 'merge_request_versions',
  package_files: 'package_files',
  project_repositories: repositories('project', false),
  project_wiki_repositories: repositories('project', true),
  snippet_repositories: repositories('snippet', false),
  terraform_state_versions: 'terraform_state_versions',
  uploads: 'uploads',
};

/** How many of each type this site holds; null beyond what is counted. */
export async function countHeld(db: Db): Promise<Map<string, number | null>> {
  const counts = Object.entries(places).map(
    ([type, place]) =>
      sql`select ${type} as type, (select count(*) from (select from ${sql.raw(place)} limit ${MAX_COUNTED + 1}) x) as count`,
  );
  const { rows } = await sql<{ type: string; count: number }>`${sql.join(counts, sql` union all `)}`.execute(
    db,
  );
  return new Map(rows.map(({ type, count }) => [type, count > MAX_COUNTED ? null : count]));
}

export type Slots = { count: number; used: number; retained: number };

/** The slots by which other databases follow this one. */
export async function readSlots(db: Db): Promise<Slots> {
  const { rows } = await sql<Slots>`
    select count(*) as count, count(*) filter (where active) as used,
      coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)), 0)::bigint as retained
    from pg_replication_slots`.execute(db);
  return rows[0] ?? { count: 0, used: 0, retained: 0 };
}
