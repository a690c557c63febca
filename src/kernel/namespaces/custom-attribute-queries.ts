/** Custom attributes of users, projects and groups. */
import type { Db } from '../../platform/db/database.ts';
import type { AttributeOwner, CustomAttribute } from './custom-attributes.ts';

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
