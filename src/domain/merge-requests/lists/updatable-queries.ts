/** Projects in which a caller changes merge requests. */
import { sql } from 'kysely';
import { CALLER, callerCte, projectLevel, TODAY } from '../../../kernel/access/membership-queries.ts';
import { mayInProjects } from '../../../kernel/access/policy-sql.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { Db } from '../../../platform/db/database.ts';
import { idArray } from '../../../platform/db/tagged-rows.ts';

/** The ids of those among these, which the caller sees. */
export async function selectUpdatable(
  db: Db,
  actor: Actor,
  projectIds: readonly number[],
): Promise<Set<number>> {
  const level = sql.raw(projectLevel(CALLER, TODAY));
  const { rows } = await sql<{ id: number }>`
    with ${callerCte(actor)}
    select p.id from projects p join namespaces n on n.id = p.namespace_id
    where p.id = any(${idArray(projectIds)}) and ${mayInProjects('update_merge_requests', actor, level)}`.execute(
    db,
  );
  return new Set(rows.map(({ id }) => id));
}
