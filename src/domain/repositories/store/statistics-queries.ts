/** Sizes of projects as last measured, for many by one statement. */
import { sql } from 'kysely';
import type { ProjectSizes } from '../../../kernel/namespaces/project-records.ts';
import type { Db } from '../../../platform/db/database.ts';

/** The sizes of a project without any repository. */
export const noSizes: ProjectSizes = {
  commit_count: 0,
  repository_size: 0,
  wiki_size: 0,
  snippets_size: 0,
  lfs_objects_size: 0,
};

/** The sizes in bytes, by project; projects without repository or large file are not in the map. */
export async function selectProjectSizes(
  db: Db,
  projectIds: readonly number[],
): Promise<Map<number, ProjectSizes>> {
  if (projectIds.length === 0) return new Map();
  const ids = sql`${[...projectIds]}::bigint[]`;
  const { rows } = await sql<ProjectSizes & { project_id: number }>`
    select project_id, sum(commits)::bigint as commit_count, sum(own)::bigint as repository_size,
      sum(wiki)::bigint as wiki_size, sum(snippet)::bigint as snippets_size, sum(large)::bigint as lfs_objects_size
    from (
      select container_id as project_id, case when wiki then 0 else commit_count end as commits,
        case when wiki then 0 else size end as own, case when wiki then size else 0 end as wiki, 0 as snippet, 0 as large
      from repositories where container = 'project' and container_id = any(${ids})
      union all
      select s.project_id, 0, 0, 0, r.size, 0 from snippets s
      join repositories r on r.container = 'snippet' and r.container_id = s.id
      where s.project_id = any(${ids})
      union all
      select project_id, 0, 0, 0, 0, sum(size)::bigint from lfs_objects where project_id = any(${ids}) group by project_id) x
    group by project_id`.execute(db);
  return new Map(rows.map(({ project_id, ...sizes }) => [project_id, sizes]));
}
