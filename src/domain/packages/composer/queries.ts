/** Composer packages: the commits of projects that were published as their versions. */
import { type RawBuilder, sql } from 'kysely';
import type { ProjectIds } from '../../../kernel/access/package-access.ts';
import type { Db } from '../../../platform/db/database.ts';
import { oneDocument } from '../records/one-document-queries.ts';
import type { PackageRow } from '../records/queries.ts';
import { installable } from '../records/types.ts';
import type { PublishedVersion } from './rules.ts';

const published = (projects: ProjectIds, name: string): RawBuilder<unknown> => sql`
  p.project_id in ${projects} and p.package_type = 'composer' and p.status = any(${[...installable]}::text[])
    and p.name = ${name}`;

/** The versions of a name, the newest first; of several projects with the same one, the newest package. */
export async function selectVersions(
  db: Db,
  projects: ProjectIds,
  name: string,
): Promise<PublishedVersion[]> {
  const newest = sql`
    select distinct on (p.version) p.id, p.project_id, p.version, p.metadata ->> 'sha' as sha,
      p.metadata -> 'description' as description
    from packages p where ${published(projects, name)} order by p.version, p.id desc`;
  const { rows } = await sql<PublishedVersion>`
    select c.id, c.project_id, n.full_path || '/' || o.path as project_path, c.version, c.sha, c.description
    from ${oneDocument(newest)} c join projects o on o.id = c.project_id join namespaces n on n.id = o.namespace_id
    order by c.id desc`.execute(db);
  return rows;
}

/** The newest of the versions of a name that are this commit. */
export async function selectVersionAt(
  db: Db,
  projects: ProjectIds,
  { name, sha }: { name: string; sha: string },
): Promise<PackageRow | undefined> {
  const { rows } = await sql<PackageRow>`
    select p.* from packages p where ${published(projects, name)} and p.metadata ->> 'sha' = ${sha}
    order by p.id desc limit 1`.execute(db);
  return rows[0];
}
