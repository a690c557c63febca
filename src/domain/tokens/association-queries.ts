/** The groups and the projects that a token's user reaches by membership, each by id. */
import { type RawBuilder, sql } from 'kysely';
import { CALLER, callerCte, reachedCtes, TODAY } from '../../kernel/access/membership-queries.ts';
import type { Actor } from '../../kernel/actor.ts';
import {
  type GroupRow,
  type ProjectRow,
  projectColumns,
  projectTables,
} from '../../kernel/namespaces/rows.ts';
import type { Db } from '../../platform/db/database.ts';

/** A project with the user's levels on it: its own, and that of its group. */
export type AssociatedRow = ProjectRow & { level_project: number | null; level_group: number | null };

type Reach = { leastLevel: number; limit: number; offset: number };

const fragment = (text: string): RawBuilder<unknown> => sql.raw(text);
const withReached = (actor: Actor): RawBuilder<unknown> =>
  sql`with ${callerCte(actor)}, ${fragment(reachedCtes(CALLER, TODAY))}`;

export async function selectReachedGroups(db: Db, actor: Actor, { leastLevel, limit, offset }: Reach) {
  const { rows } = await sql<GroupRow & { level: number }>`
    ${withReached(actor)}
    select n.*, r.level from reached_groups r join namespaces n on n.id = r.id
    where n.kind = 'group' and not n.deleting and r.level >= ${leastLevel} order by n.id limit ${limit} offset ${offset}`.execute(
    db,
  );
  return rows;
}

export async function selectReachedProjects(db: Db, actor: Actor, { leastLevel, limit, offset }: Reach) {
  const { rows } = await sql<AssociatedRow>`
    ${withReached(actor)},
    levels as (
      select p.id, g.level as level_group, r.level as level_project from projects p
      left join reached_groups g on g.id = p.namespace_id left join reached_projects r on r.id = p.id
      where not p.deleting and (p.namespace_id in (select id from reached_groups) or p.id in (select id from reached_projects))
        and greatest(g.level, r.level) >= ${leastLevel} order by p.id limit ${limit} offset ${offset})
    select ${fragment(projectColumns)}, levels.level_project, levels.level_group
    from levels join ${fragment(projectTables)} on p.id = levels.id order by p.id`.execute(db);
  return rows;
}
