/** The snippets that a caller sees, as a condition for lists. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { CALLER, callerCte, reachedCtes, TODAY } from '../../kernel/access/membership-queries.ts';
import type { Caller } from '../../kernel/actor.ts';
import { GUEST, INTERNAL, PUBLIC } from '../../kernel/policy/roles.ts';

/** The least visibility that the caller sees without a role: of snippets and projects. */
export const openToCaller = (caller: Caller): RawBuilder<unknown> =>
  sql.lit(caller && !caller.external ? INTERNAL : PUBLIC);

/**
 * Over `snippets`: those that the caller sees, personal and of projects; decided as decidePersonal() and the
 * policy of projects do. The caller's projects are found once per statement.
 */
export function visibleSnippets(caller: Caller): RawBuilder<SqlBool> {
  if (caller?.admin || caller?.auditor) return sql`true`;
  const open = openToCaller(caller);
  const reached = sql`p.id in (
    with ${callerCte(caller)}, ${sql.raw(reachedCtes(CALLER, TODAY))}
    select id from reached_projects where level >= ${sql.lit(GUEST)}
    union all
    select own.id from reached_groups g join projects own on own.namespace_id = g.id where g.level >= ${sql.lit(GUEST)})`;
  const feature = sql`coalesce(p.settings ->> 'snippets_access_level', 'enabled')`;
  return sql`(case when project_id is null
    then visibility >= ${open} or author_id = ${caller?.id ?? 0}
    else exists (select from projects p where p.id = project_id and not p.deleting and ${feature} <> 'disabled'
      and ((snippets.visibility >= ${open} and p.visibility >= ${open} and ${feature} = 'enabled') or ${reached})) end)`;
}
