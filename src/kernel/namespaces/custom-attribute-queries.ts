/** Custom attributes of users, projects and groups. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../platform/db/database.ts';
import type { Caller } from '../actor.ts';
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

/** A condition for each attribute that groups `n` must have; attributes are for administrators, and others' are ignored. */
export const groupAttributeConditions = (
  caller: Caller,
  wanted: Readonly<Record<string, string>> | null | undefined,
): RawBuilder<unknown>[] =>
  Object.entries((caller?.admin && wanted) || {}).map(
    ([key, value]) => sql`exists (select from custom_attributes c
      where c.namespace_id = n.id and c.key = ${key} and c.value = ${value})`,
  );
