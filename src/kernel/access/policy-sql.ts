/** decide() as SQL, for lists over many projects. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Caller } from '../actor.ts';
import { type ProjectAbility, projectPolicy, type Rule } from '../policy/policy.ts';
import { INTERNAL, PUBLIC } from '../policy/roles.ts';

/**
 * Whether the caller has the ability on a project `p` that the caller sees, where `level` is the caller's
 * role on it. For abilities that archived projects keep.
 */
export function mayInProjects(
  ability: ProjectAbility,
  caller: Caller,
  level: RawBuilder<unknown>,
): RawBuilder<SqlBool> {
  const rule: Rule = projectPolicy[ability];
  const feature = rule.feature
    ? sql`coalesce(p.settings ->> ${sql.lit(rule.feature)}, 'enabled')`
    : sql`'enabled'`;
  if (caller?.admin || (caller?.auditor && rule.auditor)) return sql`${feature} <> 'disabled'`;
  const open = caller && !caller.external ? INTERNAL : PUBLIC;
  const isOpen =
    rule.open === 'anyone' || (rule.open === 'signed_in' && caller)
      ? sql`p.visibility >= ${sql.lit(open)} and ${feature} = 'enabled'`
      : sql`false`;
  return sql`((${isOpen}) or (${level} >= ${sql.lit(rule.least)} and ${feature} <> 'disabled'))`;
}
