/** decide() as SQL, for lists over many projects. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Caller, jobCredentialOf } from '../actor.ts';
import { openersInProject } from '../policy/custom-abilities.ts';
import {
  type Feature,
  neededFeature,
  type ProjectAbility,
  projectPolicy,
  type Rule,
} from '../policy/policy.ts';
import { INTERNAL, PUBLIC } from '../policy/roles.ts';
import { hasCustomAbility } from './membership-queries.ts';

const setting = (feature: Feature) => sql`coalesce(p.settings ->> ${sql.lit(feature)}, 'enabled')`;

/** The stricter level of a feature and of the one that it needs. */
function levelOf(feature: Feature): RawBuilder<unknown> {
  const needed = neededFeature[feature];
  if (!needed) return setting(feature);
  const [one, other] = [setting(feature), levelOf(needed)];
  return sql`case when 'disabled' in (${one}, ${other}) then 'disabled' when 'private' in (${one}, ${other})
    then 'private' else 'enabled' end`;
}

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
  const feature = rule.feature ? levelOf(rule.feature) : sql`'enabled'`;
  if (caller?.admin || (caller?.auditor && rule.auditor)) return sql`${feature} <> 'disabled'`;
  const shutTo = rule.unlessPublicJobs;
  const shut = shutTo === undefined ? sql`false` : sql`(p.settings -> 'public_jobs' = 'false')`;
  const open = caller && !caller.external ? INTERNAL : PUBLIC;
  const isOpen =
    rule.open === 'anyone' || (rule.open === 'signed_in' && caller)
      ? sql`p.visibility >= ${sql.lit(open)} and ${feature} in ('enabled', 'public') and not ${shut}`
      : sql`false`;
  const least =
    shutTo === undefined
      ? sql.lit(rule.least)
      : sql`case when ${shut} then ${sql.lit(shutTo)} else ${sql.lit(rule.least)} end`;
  return sql`((${isOpen}) or ((${level} >= ${least}${orOpened(ability, caller)}) and ${feature} <> 'disabled'))`;
}

/** Or one of the caller's custom roles opens it; nothing for abilities that none opens. */
function orOpened(ability: ProjectAbility, caller: Caller): RawBuilder<unknown> {
  const openers = openersInProject(ability);
  // A job has its user's rights in its own project alone.
  if (!caller || jobCredentialOf(caller) || openers.length === 0) return sql``;
  return sql` or ${hasCustomAbility(caller, openers)}`;
}
