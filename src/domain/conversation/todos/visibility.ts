/**
 * The to-do items that their owner still sees. An item stays when its owner loses access to the target, and
 * must then be neither shown nor counted: its title and note are not the owner's any more.
 */
import { type RawBuilder, sql } from 'kysely';
import { CALLER, callerCte, reachedCtes, TODAY } from '../../../kernel/access/membership-queries.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import { todoTargets } from './targets.ts';

/** CTEs, and the from and where clauses that select, as `t`, the actor's own items that they see. */
export function visibleTodos(
  services: Needs<'registered'>,
  actor: Actor,
): { ctes: RawBuilder<unknown>; from: RawBuilder<unknown> } {
  const level = sql`coalesce(greatest(g.level, r.level), 0)`;
  const cases = todoTargets
    .all(services)
    .map(
      ({ column, isVisible }) => sql`when t.${sql.ref(column)} is not null then ${isVisible(actor, level)}`,
    );
  return {
    ctes: sql`${callerCte(actor)}, ${sql.raw(reachedCtes(CALLER, TODAY))}`,
    from: sql`
      from todos t left join projects p on p.id = t.project_id and not p.deleting
        left join reached_groups g on g.id = coalesce(p.namespace_id, t.namespace_id)
        left join reached_projects r on r.id = p.id left join notes note on note.id = t.note_id
      where t.user_id = ${actor.id} and (t.project_id is null or p.id is not null)
        and (case ${sql.join(cases, sql` `)} end)`,
  };
}
