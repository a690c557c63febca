/**
 * The life of a whole group: it moves, is archived, is marked for deletion and restored, or is removed for
 * good.
 */
import { sql } from 'kysely';
import type { AuthorizedGroup } from '../../../kernel/access/find.ts';
import { today } from '../../../kernel/access/group-list-queries.ts';
import { joinMembers } from '../../../kernel/access/membership-actions.ts';
import { hasOwnOwner } from '../../../kernel/access/remaining-queries.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { markNamespaceDeleting } from '../../../kernel/namespaces/erasure-actions.ts';
import { isPathTaken, lockNamespace, moveNamespace } from '../../../kernel/namespaces/path-actions.ts';
import type { NamespaceRow } from '../../../kernel/namespaces/rows.ts';
import { OWNER } from '../../../kernel/policy/roles.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { Failure, invalid } from '../../../platform/failure.ts';
import type { Fact } from '../../../platform/outbox/outbox.ts';
import { remapPlanning } from '../../planning/index.ts';
import { type GroupWriteContext, groupEntity, lockWithParent, MAX_DEPTH, tooDeep } from './changes.ts';
import { heightOf } from './queries.ts';
import { removalProblem } from './rules.ts';

const refuse = (text: string): Failure => new Failure('bad_request', text);
const failTransfer = (reason: string): Failure => refuse(`Transfer failed: ${reason}`);

/**
 * Moves a group, with its contents, into another one or to the top; the caller was authorised for both.
 * Projects leave redirects, and nothing stays more visible than its new parent.
 */
export async function transferGroup(
  { services, actor }: GroupWriteContext,
  group: AuthorizedGroup,
  target: AuthorizedGroup | undefined,
): Promise<void> {
  await inTransaction(services.database.db, async (tx) => {
    const parent = target && found(await lockNamespace(tx, target.id), 'Group');
    const row = found(await lockNamespace(tx, group.id), 'Group');
    if (parent && parent.ancestor_ids.length + (await heightOf(tx, row.id)) > MAX_DEPTH) {
      throw failTransfer(tooDeep);
    }
    if (parent?.ancestor_ids.includes(row.id))
      throw failTransfer('Cannot transfer group to one of its subgroup.');
    if (row.parent_id === (parent?.id ?? null)) {
      throw failTransfer(
        parent ? 'Group is already associated to the parent group.' : 'Group is already a root group.',
      );
    }
    if (parent && (await isPathTaken(tx, parent, row.path))) {
      throw failTransfer('The parent group already has a subgroup or a project with the same path.');
    }
    const moved = await moveNamespace(tx, row, { parent, path: row.path, name: row.name });
    if (parent && parent.visibility < row.visibility) await limitVisibility(tx, row.id, parent.visibility);
    await remapPlanning(tx, services, await projectsBelow(tx, row.id));
    if (!parent) await ensureOwner(tx, actor, moved);
    await announce(tx, {
      author: actor,
      audit: {
        entity: groupEntity(moved),
        event: 'group_transferred',
        details: { change: 'namespace', from: row.full_path, to: moved.full_path },
      },
      fact: { name: 'namespace_moved', payload: { namespace_id: row.id, from: row.full_path } },
    });
  });
}

async function projectsBelow(tx: Db, id: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select p.id from projects p join namespaces n on n.id = p.namespace_id
    where n.ancestor_ids @> array[${id}]::bigint[]`.execute(tx);
  return rows.map((project) => project.id);
}

async function limitVisibility(tx: Db, id: number, greatest: number): Promise<void> {
  await sql`
    update namespaces set visibility = ${greatest}
    where ancestor_ids @> array[${id}]::bigint[] and visibility > ${greatest}`.execute(ahead(tx));
  await sql`
    update projects set visibility = ${greatest} where visibility > ${greatest}
      and namespace_id in (select id from namespaces where ancestor_ids @> array[${id}]::bigint[])`.execute(
    ahead(tx),
  );
}

/** A group that no longer inherits its owners gets the user who moved it as one. */
async function ensureOwner(tx: Db, actor: Actor, row: NamespaceRow): Promise<void> {
  if (await hasOwnOwner(tx, row.id)) return;
  const place = { column: 'namespace_id', id: row.id, entity: groupEntity(row) } as const;
  const member = { user_id: actor.id, name: actor.name, expires_at: null, created_by_id: actor.id };
  await joinMembers(tx, place, actor, [{ ...member, access_level: OWNER }]);
  await ahead(tx)
    .updateTable('members')
    .set({ access_level: OWNER, expires_at: null, updated_at: now() })
    .where('namespace_id', '=', row.id)
    .where('user_id', '=', actor.id)
    .execute();
}

/** Makes the group and all below it read-only, or writable again; 422 when it is so already. */
export async function setArchived(
  services: Needs<'database'>,
  actor: Actor,
  group: AuthorizedGroup,
  archived: boolean,
): Promise<void> {
  await inTransaction(services.database.db, async (tx) => {
    const row = found(await lockNamespace(tx, group.id), 'Group');
    if (row.archived === archived) {
      throw new Failure('unprocessable', `Group is already ${archived ? 'archived' : 'unarchived'}!`);
    }
    await ahead(tx)
      .updateTable('namespaces')
      .set({ archived, updated_at: now() })
      .where('id', '=', row.id)
      .execute();
    const event = archived ? 'group_archived' : 'group_unarchived';
    await announce(tx, { author: actor, audit: { entity: groupEntity(row), event } });
  });
}

/** A group that is to be deleted has another path until then. */
const renamedFact = ({ id, full_path }: NamespaceRow): Fact => ({
  name: 'group_renamed',
  payload: { namespace_id: id, from: full_path },
});

/** Marks the group for deletion and frees its path; it goes for good after the delay (facts: Delayed deletion). */
export async function scheduleDeletion(
  services: Needs<'database'>,
  actor: Actor,
  group: AuthorizedGroup,
  unmodified: (updatedAt: Date) => void,
): Promise<void> {
  await inTransaction(services.database.db, async (tx) => {
    const { row, parent } = await lockWithParent(tx, group);
    unmodified(row.updated_at);
    if (row.marked_for_deletion_on !== null) throw refuse('Group has been already marked for deletion');
    await moveNamespace(tx, row, {
      parent,
      name: row.name,
      path: `${row.path}-deletion_scheduled-${row.id}`,
    });
    await ahead(tx)
      .updateTable('namespaces')
      .set({ marked_for_deletion_on: today(), marked_by_id: actor.id, path_before_deletion: row.path })
      .where('id', '=', row.id)
      .execute();
    await announce(tx, {
      author: actor,
      audit: { entity: groupEntity(row), event: 'group_deletion_marked' },
      fact: renamedFact(row),
    });
  });
}

/** Removes the mark, and gives the group its path again; 400 when it has no mark or the path was taken. */
export async function restoreGroup(
  services: Needs<'database'>,
  actor: Actor,
  group: AuthorizedGroup,
): Promise<void> {
  await inTransaction(services.database.db, async (tx) => {
    const { row, parent } = await lockWithParent(tx, group);
    if (row.marked_for_deletion_on === null) throw refuse('Group has not been marked for deletion');
    const path = row.path_before_deletion ?? row.path;
    if (parent && (await isPathTaken(tx, parent, path, { namespaceId: row.id }))) {
      throw invalid({ path: ['has already been taken'] });
    }
    const restored = await moveNamespace(tx, row, { parent, name: row.name, path });
    await ahead(tx)
      .updateTable('namespaces')
      .set({ marked_for_deletion_on: null, marked_by_id: null, path_before_deletion: null })
      .where('id', '=', row.id)
      .execute();
    await announce(tx, {
      author: actor,
      audit: { entity: groupEntity(restored), event: 'group_restored' },
      fact: renamedFact(row),
    });
  });
}

/** Removes a marked subgroup for good: out of sight at once, erased in the background. */
export async function removeGroup(
  services: Needs<'database'>,
  actor: Actor,
  group: AuthorizedGroup,
  fullPath: string | undefined,
  unmodified: (updatedAt: Date) => void,
): Promise<void> {
  await inTransaction(services.database.db, async (tx) => {
    const row = found(await lockNamespace(tx, group.id), 'Group');
    unmodified(row.updated_at);
    const problem = removalProblem(row, fullPath);
    if (problem !== undefined) throw refuse(problem);
    await markNamespaceDeleting(tx, row.id);
    await announce(tx, { author: actor, audit: { entity: groupEntity(row), event: 'group_destroyed' } });
  });
}
