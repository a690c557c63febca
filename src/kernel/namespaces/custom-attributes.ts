/** Custom attributes: names and values that administrators attach to users, groups and projects. */
import Type, { type Static } from 'typebox';
import type { Db } from '../../platform/db/database.ts';

export const CustomAttribute = Type.Object({ key: Type.String(), value: Type.String() });
export type CustomAttribute = Static<typeof CustomAttribute>;

/** The kind of owner, by its column. */
export type AttributeOwner = 'user_id' | 'project_id' | 'namespace_id';

/** The attributes of each owner in one statement, by key; an owner without any is not in the map. */
export async function selectCustomAttributes(
  db: Db,
  owner: AttributeOwner,
  ids: readonly number[],
): Promise<Map<number, CustomAttribute[]>> {
  const byOwner = new Map<number, CustomAttribute[]>();
  if (ids.length === 0) return byOwner;
  const rows = await db
    .selectFrom('custom_attributes')
    .select([`${owner} as owner_id`, 'key', 'value'])
    .where(owner, 'in', [...ids])
    .orderBy('key')
    .execute();
  for (const { owner_id, key, value } of rows) {
    if (owner_id === null) continue;
    const own = byOwner.get(owner_id) ?? [];
    own.push({ key, value });
    byOwner.set(owner_id, own);
  }
  return byOwner;
}
