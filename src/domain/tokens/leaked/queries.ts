/** Which tokens a group may revoke by their value: those that reach what is in it. */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { digest } from '../../../platform/secret.ts';

/** The id of the token, and whether it is a deploy token; undefined where it is none of the group's hierarchy. */
export async function selectReachingToken(
  db: Db,
  groupId: number,
  token: string,
): Promise<{ id: number; is_deploy: boolean } | undefined> {
  const { rows } = await sql<{ id: number; is_deploy: boolean }>`
    with inside as (select id from namespaces where ancestor_ids @> array[${groupId}]::bigint[]),
    given as (select ${digest(token)}::bytea as digest)
    select t.id, false as is_deploy from access_tokens t, given g
    where t.digest = g.digest and (
      t.kind = 'group' and t.namespace_id in (select id from inside)
      or t.kind = 'project' and exists (
        select from projects p where p.id = t.project_id and p.namespace_id in (select id from inside))
      or t.kind = 'personal' and exists (
        select from members m left join projects p on p.id = m.project_id
        where m.user_id = t.user_id and coalesce(p.namespace_id, m.namespace_id) in (select id from inside)))
    union all
    select d.id, true from deploy_tokens d left join projects p on p.id = d.project_id, given g
    where d.digest = g.digest and coalesce(p.namespace_id, d.namespace_id) in (select id from inside)`.execute(
    db,
  );
  return rows[0];
}

/** Ends a deploy token; undefined where it is gone. */
export const endDeployToken = (tx: Db, id: number) =>
  tx
    .updateTable('deploy_tokens')
    .set({ revoked_at: sql<Date>`coalesce(revoked_at, ${now()})`, updated_at: now() })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
