/** What projects take, for many by one statement: repositories as last measured, files as they are. */
import { type RawBuilder, sql } from 'kysely';
import type { ProjectSizes } from '../../../kernel/namespaces/project-records.ts';
import type { Db } from '../../../platform/db/database.ts';

/** The sizes of a project without anything. */
export const noSizes: ProjectSizes = {
  commit_count: 0,
  repository_size: 0,
  wiki_size: 0,
  lfs_objects_size: 0,
  job_artifacts_size: 0,
  packages_size: 0,
  snippets_size: 0,
  uploads_size: 0,
  container_registry_size: 0,
};

/**
 * What is added up, by kind, for the projects `asked (project_id, owner)`. Files are read from indexes that have their sizes; what has
 * one digest in images of a project counts once, as it is kept once.
 */
const parts: readonly [kind: keyof ProjectSizes, size: RawBuilder<unknown>, from: RawBuilder<unknown>][] = [
  [
    'repository_size',
    sql`size`,
    sql`repositories on container = 'project' and container_id = project_id and not wiki`,
  ],
  ['wiki_size', sql`size`, sql`repositories on container = 'project' and container_id = project_id and wiki`],
  [
    'commit_count',
    sql`commit_count`,
    sql`repositories on container = 'project' and container_id = project_id and not wiki`,
  ],
  [
    'snippets_size',
    sql`r.size`,
    sql`snippets s using (project_id) join repositories r on r.container = 'snippet' and r.container_id = s.id`,
  ],
  ['lfs_objects_size', sql`size`, sql`lfs_objects using (project_id)`],
  ['job_artifacts_size', sql`size`, sql`ci_artifacts using (project_id)`],
  ['job_artifacts_size', sql`size`, sql`ci_traces using (project_id)`],
  [
    'packages_size',
    sql`f.size`,
    sql`packages p using (project_id) join package_files f on f.package_id = p.id`,
  ],
  [
    'packages_size',
    sql`s.size`,
    sql`packages p using (project_id) join package_files f on f.package_id = p.id and p.package_type = 'nuget'
    join nuget_symbols s on s.package_file_id = f.id`,
  ],
  ['uploads_size', sql`size`, sql`uploads using (project_id)`],
  [
    'container_registry_size',
    sql`size`,
    sql`(
    select c.project_id, b.digest, b.size from asked join container_repositories c using (project_id)
    join container_blobs b on b.repository_id = c.id
    union
    select c.project_id, m.digest, m.size from asked join container_repositories c using (project_id)
    join container_manifests m on m.repository_id = c.id) images using (project_id)`,
  ],
];

async function selectSizes(db: Db, asked: RawBuilder<unknown>): Promise<Map<number, ProjectSizes>> {
  const sums = parts.map(
    ([kind, size, from]) =>
      sql`select owner, ${sql.lit(kind)} as kind, sum(${size})::bigint as size from asked join ${from} group by owner`,
  );
  const { rows } = await sql<{ owner: number; kind: keyof ProjectSizes; size: number }>`
    with asked as (${asked}) ${sql.join(sums, sql.raw(' union all '))}`.execute(db);
  const found = new Map<number, ProjectSizes>();
  for (const { owner, kind, size } of rows) {
    const sizes = found.get(owner) ?? { ...noSizes };
    sizes[kind] += size;
    found.set(owner, sizes);
  }
  return found;
}

/** By project; those without anything are not in the map. */
export const selectProjectSizes = async (
  db: Db,
  projectIds: readonly number[],
): Promise<Map<number, ProjectSizes>> =>
  projectIds.length === 0
    ? new Map()
    : selectSizes(
        db,
        sql`select id as project_id, id as owner from unnest(${[...projectIds]}::bigint[]) as given (id)`,
      );

/** Of all projects right in each group. */
export const selectGroupSizes = async (
  db: Db,
  groupIds: readonly number[],
): Promise<Map<number, ProjectSizes>> =>
  groupIds.length === 0
    ? new Map()
    : selectSizes(
        db,
        sql`select id as project_id, namespace_id as owner from projects
          where namespace_id = any(${[...groupIds]}::bigint[]) and not deleting`,
      );
