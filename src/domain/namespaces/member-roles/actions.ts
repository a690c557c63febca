/** Makes and removes custom roles, of the instance or of a top-level group. */
import { sql } from 'kysely';
import { type AuditedEntity, announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { badRequest, invalid } from '../../../platform/failure.ts';
import type { MemberRoleRow } from './present.ts';
import { countMemberRoles, isAssigned, lockMemberRole } from './queries.ts';
import { requestedAbilities } from './rules.ts';
import type { NewMemberRole } from './schema.ts';

/** Whose roles: a top-level group's, or the instance's. */
export type RoleHome = { groupId: number | null; entity: AuditedEntity };

const MOST = { ofGroup: 10, ofInstance: 100 } as const;

const audit = (tx: Db, actor: Actor, home: RoleHome, event: string, role: { id: number; name: string }) =>
  announce(tx, {
    author: actor,
    audit: {
      entity: home.entity,
      event,
      details: { target_id: role.id, target_type: 'MemberRole', target_details: role.name },
    },
  });

/** 400 for abilities that cannot be obeyed, without any, for a name that is taken, and over the limit. */
export async function createMemberRole(
  db: Db,
  actor: Actor,
  home: RoleHome,
  input: NewMemberRole,
): Promise<MemberRoleRow> {
  const { abilities, problems } = requestedAbilities(input);
  if (problems) throw invalid(problems);
  const { name, description = null, base_access_level } = input;
  return inTransaction(db, async (tx) => {
    // Two at once are not one too many.
    await sql`select pg_advisory_xact_lock(hashtextextended('member roles', ${home.groupId ?? 0}))`.execute(
      ahead(tx),
    );
    const most = home.groupId === null ? MOST.ofInstance : MOST.ofGroup;
    if ((await countMemberRoles(tx, home.groupId)) >= most)
      throw invalid({
        base: [`There are ${most} custom roles already, which is the most that there may be`],
      });
    const time = now();
    const role = await tx
      .insertInto('member_roles')
      .values({
        namespace_id: home.groupId,
        name,
        description,
        base_access_level,
        abilities,
        created_at: time,
        updated_at: time,
      })
      .onConflict((conflict) => conflict.doNothing())
      .returningAll()
      .executeTakeFirst();
    if (!role) throw invalid({ name: ['has already been taken'] });
    await audit(tx, actor, home, 'member_role_created', role);
    return role;
  });
}

/** 400 while a member has it. */
export const deleteMemberRole = (
  db: Db,
  actor: Actor,
  home: RoleHome,
  id: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const role = found(await lockMemberRole(tx, home.groupId, id), 'Member Role');
    unmodified(role.updated_at);
    if (await isAssigned(tx, id))
      throw badRequest(
        'Role is assigned to one or more group members. Remove role from all group members, then delete role.',
      );
    await ahead(tx).deleteFrom('member_roles').where('id', '=', id).execute();
    await audit(tx, actor, home, 'member_role_deleted', role);
  });
