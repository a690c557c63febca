/** Statements over the custom attributes of one owner. */
import type { Db } from '../../../platform/db/database.ts';
import type { Owner } from './owners.ts';

/** All attributes of the owner, as the start of a page. */
export const attributesOf = (db: Db, owner: Owner) =>
  db.selectFrom('custom_attributes').select(['id', 'key', 'value']).where(owner.column, '=', owner.id);

/** One attribute, or undefined. */
export const selectAttribute = (db: Db, owner: Owner, key: string) =>
  db
    .selectFrom('custom_attributes')
    .select(['key', 'value', 'updated_at'])
    .where(owner.column, '=', owner.id)
    .where('key', '=', key)
    .executeTakeFirst();
