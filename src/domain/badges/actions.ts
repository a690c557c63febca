/** Makes badges, changes and deletes them. */
import { auditedParent, parentColumns, type ResourceParent } from '../../kernel/access/resource-parents.ts';
import { announce } from '../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../kernel/actor.ts';
import { found } from '../../kernel/api/endpoint.ts';
import { now } from '../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../platform/db/database.ts';
import { type BadgeRow, lockBadge, ownBadges } from './queries.ts';
import { requireAddresses } from './rules.ts';
import type { BadgeChanges, CreateInput } from './schema.ts';

const audit = (tx: Db, actor: Actor, parent: ResourceParent, event: string, badge: BadgeRow): Promise<void> =>
  announce(tx, {
    author: actor,
    audit: {
      entity: auditedParent(parent),
      event,
      details: { target_id: badge.id, target_type: 'Badge', target_details: badge.name ?? badge.link_url },
    },
  });

/** Makes a badge; 400 for an address that is no web page. */
export function createBadge(
  db: Db,
  actor: Actor,
  parent: ResourceParent,
  { link_url, image_url, name = null }: CreateInput,
): Promise<BadgeRow> {
  requireAddresses({ link_url, image_url });
  return inTransaction(db, async (tx) => {
    const time = now();
    const badge = await tx
      .insertInto('badges')
      .values({ ...parentColumns(parent), name, link_url, image_url, created_at: time, updated_at: time })
      .returningAll()
      .executeTakeFirstOrThrow();
    await audit(tx, actor, parent, 'badge_created', badge);
    return badge;
  });
}

/** Changes the properties of the parent's own badge that the request names; 404 without it. */
export function updateBadge(
  db: Db,
  actor: Actor,
  parent: ResourceParent,
  id: number,
  changes: BadgeChanges,
): Promise<BadgeRow> {
  const { name, ...addresses } = changes;
  requireAddresses(addresses);
  return inTransaction(db, async (tx) => {
    const changed = await tx
      .updateTable('badges')
      .set({ ...changes, updated_at: now() })
      .where(ownBadges(parent))
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst();
    const badge = found(changed, 'Badge');
    await audit(tx, actor, parent, 'badge_updated', badge);
    return badge;
  });
}

/** Deletes the parent's own badge; 404 without it. */
export const deleteBadge = (
  db: Db,
  actor: Actor,
  parent: ResourceParent,
  id: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const badge = found(await lockBadge(tx, parent, id), 'Badge');
    unmodified(badge.updated_at);
    await ahead(tx).deleteFrom('badges').where('id', '=', id).execute();
    await audit(tx, actor, parent, 'badge_deleted', badge);
  });
