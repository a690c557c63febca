/** Statements over custom roles. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import type { MemberRoleRow } from './present.ts';

const columns = ['id', 'namespace_id', 'name', 'description', 'base_access_level', 'abilities'] as const;

/** A page of the roles of a top-level group, or of the instance. */
export function selectMemberRoles(
  db: Db,
  groupId: number | null,
  page: PageRequest,
): Promise<Page<MemberRoleRow>> {
  const roles = db
    .selectFrom('member_roles')
    .select(columns)
    .where('namespace_id', 'is not distinct from', groupId);
  return selectPage(db, roles, page, { by: 'id', sort: 'asc' }, { id: 'id' });
}

/** A role of the group or the instance, locked until the transaction ends. */
export const lockMemberRole = (tx: Db, groupId: number | null, id: number) =>
  tx
    .selectFrom('member_roles')
    .selectAll()
    .where('namespace_id', 'is not distinct from', groupId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();

/** Whether any member has the role, or somebody who is invited will. */
export async function isAssigned(tx: Db, id: number): Promise<boolean> {
  const { rows } = await sql`
    (select from members where member_role_id = ${id} limit 1)
    union all (select from awaiting_members where member_role_id = ${id} limit 1)
    union all (select from invitations where member_role_id = ${id} limit 1)`.execute(tx);
  return rows.length > 0;
}

export async function countMemberRoles(tx: Db, groupId: number | null): Promise<number> {
  const { count } = await tx
    .selectFrom('member_roles')
    .select(sql<number>`count(*)::integer`.as('count'))
    .where('namespace_id', 'is not distinct from', groupId)
    .executeTakeFirstOrThrow();
  return count;
}

/** A role that members below the top-level group may have, its own or the instance's; kept from being removed meanwhile. */
export const selectAssignable = (
  tx: Db,
  rootGroupId: number | undefined,
  id: number,
): Promise<MemberRoleRow | undefined> =>
  tx
    .selectFrom('member_roles')
    .select(columns)
    .where('id', '=', id)
    .where((eb) => eb.or([eb('namespace_id', 'is', null), eb('namespace_id', '=', rootGroupId ?? 0)]))
    .forKeyShare()
    .executeTakeFirst();

/** The role of an id as JSON, a part of other statements; null without one. */
export const memberRoleJson = (id: RawBuilder<unknown>): RawBuilder<MemberRoleRow | null> =>
  sql<MemberRoleRow | null>`(select to_jsonb(r) from member_roles r where r.id = ${id})`;
