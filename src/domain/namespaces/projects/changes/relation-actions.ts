/** Relations of projects: stars, shares with groups, forks. */
import { sql } from 'kysely';
import { type AuthorizedProject, authorizeGroup } from '../../../../kernel/access/find.ts';
import { announce } from '../../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../../kernel/actor.ts';
import { isLockedAbove } from '../../../../kernel/namespaces/lock-queries.ts';
import { projectFullPath } from '../../../../kernel/namespaces/rows.ts';
import { OWNER } from '../../../../kernel/policy/roles.ts';
import type { Needs } from '../../../../kernel/services.ts';
import { now } from '../../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../../platform/db/database.ts';
import { badRequest, Failure, forbidden } from '../../../../platform/failure.ts';
import { projectEntity } from './actions.ts';

/** Stars or unstars; false when nothing changed. */
export async function setStar(
  services: Needs<'database'>,
  actor: Actor,
  project: AuthorizedProject,
  starred: boolean,
): Promise<boolean> {
  return inTransaction(services.database.db, async (tx) => {
    const changed = starred
      ? await tx
          .insertInto('stars')
          .values({ project_id: project.id, user_id: actor.id, starred_at: now() })
          .onConflict((conflict) => conflict.doNothing())
          .executeTakeFirst()
          .then((result) => result.numInsertedOrUpdatedRows ?? 0n)
      : await tx
          .deleteFrom('stars')
          .where('project_id', '=', project.id)
          .where('user_id', '=', actor.id)
          .executeTakeFirst()
          .then((result) => result.numDeletedRows);
    if (changed === 0n) return false;
    const step = starred ? 1 : -1;
    await ahead(tx)
      .updateTable('projects')
      .set((eb) => ({ star_count: eb('star_count', '+', step) }))
      .where('id', '=', project.id)
      .execute();
    return true;
  });
}

/** Gives the members of a group access, at most at the caller's own role. */
export async function shareProject(
  services: Needs<'database'>,
  actor: Actor,
  project: AuthorizedProject,
  share: { groupId: number; access: number; expiresAt: string | null },
) {
  const group = await authorizeGroup(services.database.points, actor, 'read_group', share.groupId);
  if (share.access === OWNER && project.role < OWNER) throw forbidden();
  if (await isLockedAbove(services.database.db, project.row.ancestor_ids, 'share_with_group_lock'))
    throw forbidden();
  return inTransaction(services.database.db, async (tx) => {
    const link = await tx
      .insertInto('project_group_links')
      .values({
        project_id: project.id,
        group_id: group.id,
        group_access: share.access,
        expires_at: share.expiresAt,
        created_at: now(),
      })
      .returning(['id', 'project_id', 'group_id', 'group_access', 'expires_at'])
      .executeTakeFirstOrThrow();
    await announce(tx, {
      author: actor,
      audit: {
        entity: projectEntity(project.id, project.fullPath),
        event: 'project_group_link_created',
        details: {
          add: 'project_access',
          as: String(share.access),
          target_id: group.id,
          target_type: 'Group',
          target_details: group.row.full_path,
        },
      },
    });
    return link;
  });
}

/** Removes a share; false when there is none. Only an owner removes owners. */
export async function unshareProject(
  services: Needs<'database'>,
  actor: Actor,
  project: AuthorizedProject,
  groupId: number,
  unmodified: (updatedAt: Date) => void,
): Promise<boolean> {
  return inTransaction(services.database.db, async (tx) => {
    const link = await tx
      .selectFrom('project_group_links')
      .select(['id', 'created_at', 'group_access'])
      .where('project_id', '=', project.id)
      .where('group_id', '=', groupId)
      .forUpdate()
      .executeTakeFirst();
    if (!link) return false;
    if (link.group_access === OWNER && project.role < OWNER) throw forbidden();
    unmodified(link.created_at);
    await ahead(tx).deleteFrom('project_group_links').where('id', '=', link.id).execute();
    await announce(tx, {
      author: actor,
      audit: {
        entity: projectEntity(project.id, project.fullPath),
        event: 'project_group_link_deleted',
        details: { remove: 'project_access', target_id: groupId, target_type: 'Group' },
      },
    });
    return true;
  });
}

/** Records that a project was forked from another; returns what changed. 409 when that is recorded already. */
export async function setForkedFrom(
  services: Needs<'database'>,
  actor: Actor,
  project: AuthorizedProject,
  source: AuthorizedProject,
): Promise<{ forked_from_id: number; updated_at: Date }> {
  const changes = { forked_from_id: source.id, updated_at: now() };
  if (source.id === project.id) throw badRequest('A project cannot be forked from itself');
  await inTransaction(services.database.db, async (tx) => {
    const changed = await tx
      .updateTable('projects')
      .set(changes)
      .where('id', '=', project.id)
      .where('forked_from_id', 'is', null)
      .executeTakeFirst();
    if (changed.numUpdatedRows === 0n) throw new Failure('conflict', 'Project already forked');
    await countForks(tx, source.id, 1);
    await announce(tx, {
      author: actor,
      audit: {
        entity: projectEntity(project.id, project.fullPath),
        event: 'project_fork_relation_created',
        details: { target_id: source.id, target_details: projectFullPath(source.row) },
      },
    });
  });
  return changes;
}

/** Ends the fork relation; false when there is none. */
export async function removeForkedFrom(
  services: Needs<'database'>,
  actor: Actor,
  project: AuthorizedProject,
): Promise<boolean> {
  return inTransaction(services.database.db, async (tx) => {
    const before = await tx
      .selectFrom('projects')
      .select('forked_from_id')
      .where('id', '=', project.id)
      .forUpdate()
      .executeTakeFirst();
    if (!before?.forked_from_id) return false;
    await ahead(tx)
      .updateTable('projects')
      .set({ forked_from_id: null, updated_at: now() })
      .where('id', '=', project.id)
      .execute();
    await countForks(tx, before.forked_from_id, -1);
    await announce(tx, {
      author: actor,
      audit: { entity: projectEntity(project.id, project.fullPath), event: 'project_fork_relation_removed' },
    });
    return true;
  });
}

/** Adds to the number of the project's forks. */
export async function countForks(tx: Db, projectId: number, step: number): Promise<void> {
  await ahead(tx)
    .updateTable('projects')
    .set((eb) => ({ forks_count: eb('forks_count', '+', step) }))
    .where('id', '=', projectId)
    .execute();
}

/** Takes back the stars of a deleted user, whose projects become the ghost's. */
export async function reassignProjects(tx: Db, userId: number, ghostId: number): Promise<void> {
  await sql`update projects set star_count = star_count - 1
    where id in (select project_id from stars where user_id = ${userId})`.execute(ahead(tx));
  await ahead(tx).deleteFrom('stars').where('user_id', '=', userId).execute();
  await ahead(tx)
    .updateTable('projects')
    .set({ creator_id: ghostId })
    .where('creator_id', '=', userId)
    .execute();
}
