/** The objects of projects. An object that a project has no row of is not there for it, whoever else has it. */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { projectSettings } from '../../../kernel/namespaces/project-settings.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { LargeObject } from '../pointers/pointer.ts';

const idsOf = (oids: readonly string[]) =>
  sql`select decode(oid, 'hex') from unnest(${oids}::text[]) as asked (oid)`;

/** Sizes of those of the objects that the project has, by their ids. */
export async function selectObjects(
  db: Db,
  projectId: number,
  oids: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await sql<LargeObject>`
    select encode(sha256, 'hex') as oid, size from lfs_objects
    where project_id = ${projectId} and sha256 in (${idsOf(oids)})`.execute(db);
  return new Map(rows.map(({ oid, size }) => [oid, size]));
}

/** Whether the project has large files: a group around it may have turned them off. */
export async function isOn(db: Db, { row }: Pick<AuthorizedProject, 'row'>): Promise<boolean> {
  if (!projectSettings(row).lfs_enabled) return false;
  const { rows } = await turnedOff(row).execute(db);
  return rows.length === 0;
}

const turnedOff = (row: Pick<AuthorizedProject['row'], 'namespace_id' | 'ancestor_ids'>) => sql`
  select from namespaces where id = any(${[row.namespace_id, ...row.ancestor_ids]}::bigint[])
    and (settings -> 'lfs_enabled') = 'false' limit 1`;

/** Whether the project has large files, and objects of them. */
export async function hasLargeFiles(
  db: Db,
  { id, row }: Pick<AuthorizedProject, 'id' | 'row'>,
): Promise<boolean> {
  if (!projectSettings(row).lfs_enabled) return false;
  const { rows } = await sql`
    select from lfs_objects where project_id = ${id} and not exists (${turnedOff(row)}) limit 1`.execute(db);
  return rows.length > 0;
}

export async function hasObjects(db: Db, projectId: number): Promise<boolean> {
  const { rows } = await sql`select from lfs_objects where project_id = ${projectId} limit 1`.execute(db);
  return rows.length > 0;
}
