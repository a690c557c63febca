/** What groups say of the packages below them. */
import { type RawBuilder, sql } from 'kysely';
import { groupSettings } from '../../../kernel/namespaces/group-settings.ts';
import { type PackageSettings, packageSettingsOf } from '../../../kernel/namespaces/package-settings.ts';
import type { Db } from '../../../platform/db/database.ts';

/** Ids of a namespace and those above it, as an array. */
export const aboveProject = (id: number): RawBuilder<unknown> => sql`(
  select n.ancestor_ids from projects p join namespaces n on n.id = p.namespace_id where p.id = ${id})`;
export const aboveGroup = (id: number): RawBuilder<unknown> =>
  sql`(select ancestor_ids from namespaces where id = ${id})`;
export const atRoot = (path: string): RawBuilder<unknown> =>
  sql`(select ancestor_ids from namespaces where lower(full_path) = ${path} and parent_id is null)`;

/** Those of the groups among them, from the lowest to the one at the top. */
export async function selectPackageSettings(db: Db, ids: RawBuilder<unknown>): Promise<PackageSettings[]> {
  const { rows } = await sql<{ settings: unknown }>`
    select settings from namespaces where kind = 'group' and id = any(${ids}::bigint[]) order by cardinality(ancestor_ids) desc`.execute(
    db,
  );
  return rows.map((row) => packageSettingsOf(groupSettings(row)));
}
