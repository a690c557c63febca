/** Sharing a group with another: the members of the one get a role in the other. */
import { type AuthorizedGroup, authorizeGroup } from '../../../kernel/access/find.ts';
import { today } from '../../../kernel/access/group-list-queries.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { isLockedAbove } from '../../../kernel/namespaces/lock-queries.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, inTransaction } from '../../../platform/db/database.ts';
import { conflict, forbidden, invalid } from '../../../platform/failure.ts';
import { groupEntity } from './changes.ts';
import type { ShareGroup } from './schema.ts';

const ALREADY_SHARED = 'Shared group The group has already been shared with this group';

/** Gives the members of another group, which the actor must see, a role here; 409 when they have one already. */
export async function shareGroup(
  services: Needs<'database'>,
  actor: Actor,
  group: AuthorizedGroup,
  share: ShareGroup,
): Promise<void> {
  const { db, sql } = services.database;
  const invited = await authorizeGroup(sql, actor, 'read_group', share.group_id);
  const expiresAt = share.expires_at ?? null;
  if (expiresAt !== null && expiresAt < today())
    throw invalid({ expires_at: ['cannot be a date in the past'] });
  const [root] = group.row.ancestor_ids;
  const outside = invited.row.ancestor_ids[0] !== root;
  if (
    outside &&
    (await isLockedAbove(db, group.row.ancestor_ids, 'prevent_sharing_groups_outside_hierarchy'))
  ) {
    throw forbidden('sharing outside the hierarchy of the top-level group is prevented');
  }
  await inTransaction(db, async (tx) => {
    const link = await tx
      .insertInto('group_group_links')
      .values({
        shared_group_id: group.id,
        shared_with_group_id: invited.id,
        group_access: share.group_access,
        expires_at: expiresAt,
        created_at: now(),
      })
      .onConflict((conflicting) => conflicting.doNothing())
      .returning('id')
      .executeTakeFirst();
    if (!link) throw conflict(ALREADY_SHARED);
    await announce(tx, {
      author: actor,
      audit: {
        entity: groupEntity(group.row),
        event: 'group_share_with_group_link_created',
        details: {
          add: 'group_access',
          as: String(share.group_access),
          target_id: invited.id,
          target_type: 'Group',
          target_details: invited.row.full_path,
        },
      },
    });
  });
}

/** Removes a share; 404 when there is none. */
export async function unshareGroup(
  services: Needs<'database'>,
  actor: Actor,
  group: AuthorizedGroup,
  invitedId: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> {
  await inTransaction(services.database.db, async (tx) => {
    const link = found(
      await tx
        .selectFrom('group_group_links')
        .innerJoin('namespaces', 'namespaces.id', 'group_group_links.shared_with_group_id')
        .select(['group_group_links.id', 'group_group_links.created_at', 'namespaces.full_path'])
        .where('shared_group_id', '=', group.id)
        .where('shared_with_group_id', '=', invitedId)
        .forUpdate('group_group_links')
        .executeTakeFirst(),
    );
    unmodified(link.created_at);
    await ahead(tx).deleteFrom('group_group_links').where('id', '=', link.id).execute();
    await announce(tx, {
      author: actor,
      audit: {
        entity: groupEntity(group.row),
        event: 'group_share_with_group_link_removed',
        details: {
          remove: 'group_access',
          target_id: invitedId,
          target_type: 'Group',
          target_details: link.full_path,
        },
      },
    });
  });
}
