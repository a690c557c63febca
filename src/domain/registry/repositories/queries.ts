/** Repositories of images as the REST API lists them: those that have a manifest, and those that are being deleted. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { AuthorizedGroup, AuthorizedProject } from '../../../kernel/access/find.ts';
import { belowGroup, projectsWith } from '../../../kernel/access/project-list-queries.ts';
import type { Caller } from '../../../kernel/actor.ts';
import type { Db } from '../../../platform/db/database.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import type { Shown } from './schema.ts';

const rowsOf = (db: Db) =>
  db
    .selectFrom('container_repositories as r')
    .innerJoin('projects as p', 'p.id', 'r.project_id')
    .innerJoin('namespaces as n', 'n.id', 'p.namespace_id')
    .selectAll('r')
    .select(
      sql<string>`lower(n.full_path || '/' || p.path) || case when r.name = '' then '' else '/' || r.name end`.as(
        'path',
      ),
    )
    .where(sql<SqlBool>`exists (select from container_manifests m where m.repository_id = r.id)`);

const countOf = (asked: boolean | undefined) =>
  sql<
    number | null
  >`case when ${asked ?? false} then (select count(*)::integer from container_tags t where t.repository_id = r.id) end`.as(
    'tags_count',
  );

/** Of the same bytes under two digests one counts. */
const sizeOf = (asked: boolean | undefined) =>
  sql<number | null>`case when ${asked ?? false} then (
    select coalesce(sum(b.size), 0)::bigint from (
      select distinct sha256, size from container_blobs where repository_id = r.id) b) end`.as('size');

export type RepositoryRow = {
  id: number;
  project_id: number;
  name: string;
  path: string;
  created_at: Date;
  updated_at: Date;
  cleanup_policy_started_at: Date | null;
  status: string | null;
  tags_count: number | null;
  size: number | null;
};

const pageOf = (
  db: Db,
  among: RawBuilder<SqlBool>,
  { tags_count }: Shown,
  page: PageRequest,
): Promise<Page<RepositoryRow>> =>
  selectPage(
    db,
    rowsOf(db)
      .select([countOf(tags_count), sizeOf(false)])
      .where(among) as never,
    page,
    { by: 'id', sort: 'asc' },
    { id: 'r.id' },
  );

/** One page of a project's, the oldest first. */
export const selectRepositories = (
  db: Db,
  { id }: AuthorizedProject,
  shown: Shown,
  page: PageRequest,
): Promise<Page<RepositoryRow>> => pageOf(db, sql`r.project_id = ${id}`, shown, page);

/** One page of those in projects below the group whose images the caller reads. */
export const selectGroupRepositories = (
  db: Db,
  caller: Caller,
  group: AuthorizedGroup,
  page: PageRequest,
): Promise<Page<RepositoryRow>> =>
  pageOf(
    db,
    sql`r.project_id in ${projectsWith('read_container_images', caller, belowGroup(group.id))}`,
    {},
    page,
  );

/** A project's repository by its id. */
export const selectRepositoryRow = (
  db: Db,
  project: AuthorizedProject,
  id: number,
  { tags_count, size }: Shown = {},
): Promise<RepositoryRow | undefined> =>
  rowsOf(db)
    .select([countOf(tags_count), sizeOf(size)])
    .where('r.project_id', '=', project.id)
    .where('r.id', '=', id)
    .executeTakeFirst();

export type FirstTag = { repository_id: number; name: string };

/** The first tags of each repository, by name. */
export async function selectFirstTags(db: Db, ids: readonly number[], limit: number): Promise<FirstTag[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<FirstTag>`
    select r.id as repository_id, t.name from unnest(${ids}::bigint[]) as r (id)
    cross join lateral (
      select name from container_tags where repository_id = r.id order by name limit ${limit}) t
    order by r.id, t.name`.execute(db);
  return rows;
}

export type RegistryTagRow = { id: number; name: string };

/** One page of a repository's tags, by name. */
export const selectTagPage = (
  db: Db,
  repositoryId: number,
  sort: 'asc' | 'desc',
  page: PageRequest,
): Promise<Page<RegistryTagRow>> =>
  selectPage(
    db,
    db.selectFrom('container_tags').select(['id', 'name']).where('repository_id', '=', repositoryId),
    page,
    { by: 'name', sort },
    { id: 'id', name: 'name' },
  );

export type TagDetailsRow = {
  name: string;
  updated_at: Date;
  digest: string;
  config_digest: string | null;
  layers_size: number;
};

export async function selectTagDetails(
  db: Db,
  repositoryId: number,
  name: string,
): Promise<TagDetailsRow | undefined> {
  const { rows } = await sql<TagDetailsRow>`
    select t.name, t.updated_at, m.digest, m.config_digest, (
      select coalesce(sum(b.size), 0)::bigint from container_manifest_blobs l
      join container_blobs b on (b.repository_id, b.digest) = (l.repository_id, l.digest)
      where l.manifest_id = m.id and l.digest <> m.config_digest) as layers_size
    from container_tags t join container_manifests m on m.id = t.manifest_id
    where t.repository_id = ${repositoryId} and t.name = ${name}`.execute(db);
  return rows[0];
}
