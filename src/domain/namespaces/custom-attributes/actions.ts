/** Changes of custom attributes. */
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { CustomAttribute } from '../../../kernel/namespaces/custom-attributes.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import type { Owner } from './owners.ts';

/** Inserts or updates the attribute. */
export async function setAttribute(
  db: Db,
  actor: Actor,
  owner: Owner,
  { key, value }: CustomAttribute,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    await ahead(tx)
      .insertInto('custom_attributes')
      .values({ [owner.column]: owner.id, key, value, updated_at: now() })
      .onConflict((conflict) =>
        conflict
          .columns([owner.column, 'key'])
          .where(owner.column, 'is not', null)
          .doUpdateSet((eb) => ({
            value: eb.ref('excluded.value'),
            updated_at: eb.ref('excluded.updated_at'),
          })),
      )
      .execute();
    const details = { change: key, to: value };
    await announce(tx, {
      author: actor,
      audit: { entity: owner.entity, event: 'custom_attribute_updated', details },
    });
  });
}

/** Deletes the attribute, which the caller has checked. */
export async function deleteAttribute(db: Db, actor: Actor, owner: Owner, key: string): Promise<void> {
  await inTransaction(db, async (tx) => {
    await ahead(tx)
      .deleteFrom('custom_attributes')
      .where(owner.column, '=', owner.id)
      .where('key', '=', key)
      .execute();
    const details = { remove: key };
    await announce(tx, {
      author: actor,
      audit: { entity: owner.entity, event: 'custom_attribute_deleted', details },
    });
  });
}
