/** Packages of npm by their names, of a project or of several. */
import { type RawBuilder, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { ProjectIds } from '../../../kernel/access/package-access.ts';
import { belowRoot } from '../../../kernel/access/project-list-queries.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { FetchedFile } from '../records/queries.ts';
import { installable } from '../records/types.ts';
import type { VersionRow } from './documents.ts';

/** Of one package: one document has them all. */
const MAX_VERSIONS = 10_000;

type Project = Pick<AuthorizedProject, 'id'>;

const named = (projects: ProjectIds, name: string): RawBuilder<unknown> => sql`
  p.project_id in ${projects} and p.package_type = 'npm' and p.name = ${name}
  and p.version is not null and p.status = any(${[...installable]}::text[])`;

/** The versions of a name, the oldest first; their manifests where they are asked for. */
export async function selectVersions(
  db: Db,
  projects: ProjectIds,
  name: string,
  { manifests }: { manifests: boolean },
): Promise<VersionRow[]> {
  const { rows } = await sql<VersionRow>`
    with versions as materialized (
      select p.id, p.project_id, p.version, p.status_message as deprecated, p.created_at, p.updated_at,
        ${manifests ? sql`p.metadata ->> 'manifest'` : sql`null::text`} as manifest
      from packages p where ${named(projects, name)}),
    -- Few versions have any: to ask for each would take longer than all the rest.
    tagged as (
      select t.package_id, json_object_agg(t.name, t.id)::text as tags
      from versions v join package_tags t on t.package_id = v.id group by t.package_id)
    select v.*, f.file_name, f.sha1, f.metadata ->> 'integrity' as integrity, tagged.tags
    from versions v join package_files f on f.package_id = v.id left join tagged on tagged.package_id = v.id
    order by v.id limit ${MAX_VERSIONS}`.execute(db);
  return rows;
}

/** The tarball of this name. */
export async function selectTarball(
  db: Db,
  projects: ProjectIds,
  name: string,
  fileName: string,
): Promise<FetchedFile | undefined> {
  const { rows } = await sql<FetchedFile>`
    select f.*, p.last_downloaded_at from packages p join package_files f on f.package_id = p.id
    where ${named(projects, name)} and f.file_name = ${fileName} order by f.id desc limit 1`.execute(db);
  return rows[0];
}

/** The project that published a version of the name last. */
export async function selectHome(db: Db, projects: ProjectIds, name: string): Promise<number | undefined> {
  const { rows } = await sql<{ project_id: number }>`
    select p.project_id from packages p where ${named(projects, name)} order by p.id desc limit 1`.execute(
    db,
  );
  return rows[0]?.project_id;
}

/** Whether another project has the name of the scope that is the path of its group or user. */
export async function isTakenBeside(tx: Db, { id }: Project, name: string, root: string): Promise<boolean> {
  const { rows } = await sql`
    select from packages k join projects p on p.id = k.project_id
    where k.package_type = 'npm' and k.name = ${name} and p.id <> ${id} and not p.deleting
      and ${belowRoot(root.toLowerCase())} limit 1`.execute(tx);
  return rows.length > 0;
}
