/** Reads who started a job, as its identity tokens say it. */
import { sql } from 'kysely';
import { CALLER, callerCte, projectLevel, TODAY } from '../../../kernel/access/membership-queries.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { Db } from '../../../platform/db/database.ts';

/** The level of the user on the project, 0 for who is no member, and the full paths of their own groups. */
export async function selectUserOfToken(
  db: Db,
  user: Pick<Actor, 'id'>,
  projectId: number,
): Promise<{ level: number; groups: string[] }> {
  const { rows } = await sql<{ level: number; groups: string[] }>`
    with ${callerCte(user as Actor)}
    select ${sql.raw(projectLevel(CALLER, TODAY))} as level,
      array(select g.full_path from members m join namespaces g on g.id = m.namespace_id
        where m.user_id = ${user.id} and (m.expires_at is null or m.expires_at > ${sql.raw(TODAY)})
        order by g.full_path) as groups
    from projects p join namespaces n on n.id = p.namespace_id where p.id = ${projectId}`.execute(db);
  return rows[0] ?? { level: 0, groups: [] };
}
