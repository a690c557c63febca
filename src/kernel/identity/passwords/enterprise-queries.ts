/** Enterprise users belong to a top-level group, whose settings may restrict how they sign in. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';

/** Whether the group that the user belongs to has turned passwords off for its users (spec: OAuth, password flow). */
export async function passwordDisabledByGroup(db: Db, userId: number): Promise<boolean> {
  const { rows } = await sql<{ disabled: boolean }>`
    select n.settings @> '{"disable_password_authentication_for_enterprise_users": true}' as disabled
    from users u join namespaces n on n.id = u.enterprise_group_id and not n.deleting
    where u.id = ${userId}`.execute(db);
  return rows[0]?.disabled ?? false;
}
