/** Terraform modules of projects. */
import { type RawBuilder, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { ProjectIds } from '../../../kernel/access/package-access.ts';
import type { Db } from '../../../platform/db/database.ts';
import { lockWords } from '../publishing/publish-actions.ts';
import type { FetchedFile } from '../records/queries.ts';
import { installable } from '../records/types.ts';

/** Of one answer: it has them all. */
const MAX_VERSIONS = 10_000;

const published = (projects: ProjectIds): RawBuilder<unknown> => sql`
  p.project_id in ${projects} and p.package_type = 'terraform_module' and p.status = any(${[...installable]}::text[])`;

/** The versions of a module, in no order. */
export async function selectVersions(db: Db, projects: ProjectIds, name: string): Promise<string[]> {
  const { rows } = await sql<{ version: string }>`
    select distinct version from packages p where ${published(projects)} and p.name = ${name} limit ${MAX_VERSIONS}`.execute(
    db,
  );
  return rows.map(({ version }) => version);
}

/** The path of the project that published the version last. */
export async function selectSource(
  db: Db,
  projects: ProjectIds,
  { name, version }: { name: string; version: string },
): Promise<string | undefined> {
  const { rows } = await sql<{ path: string }>`
    select n.full_path || '/' || o.path as path from packages p join projects o on o.id = p.project_id
    join namespaces n on n.id = o.namespace_id
    where ${published(projects)} and p.name = ${name} and p.version = ${version} order by p.id desc limit 1`.execute(
    db,
  );
  return rows[0]?.path;
}

export async function selectFileById(db: Db, id: number): Promise<FetchedFile | undefined> {
  const { rows } = await sql<FetchedFile>`
    select f.*, p.last_downloaded_at from package_files f join packages p on p.id = f.package_id
    where f.id = ${id} and p.package_type = 'terraform_module'`.execute(db);
  return rows[0];
}

/** Whether another project below the same top-level namespace has the module. One transaction at a time asks for one name. */
export async function isTakenElsewhere(
  tx: Db,
  { id }: Pick<AuthorizedProject, 'id'>,
  name: string,
): Promise<boolean> {
  await lockWords(tx, 'terraform module', name);
  const { rows } = await sql`
    select from projects own join namespaces n on n.id = own.namespace_id
    join namespaces each on each.ancestor_ids @> array[n.ancestor_ids[1]] join projects o on o.namespace_id = each.id
    join packages p on p.project_id = o.id
    where own.id = ${id} and o.id <> own.id and p.package_type = 'terraform_module' and p.name = ${name} limit 1`.execute(
    tx,
  );
  return rows.length > 0;
}
