/** Decides for a caller about a project that a statement finds. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Caller } from '../actor.ts';
import type { ProjectAbility } from '../policy/policy.ts';
import { CALLER, callerCte, projectLevel, TODAY } from './membership-queries.ts';
import { mayInProjects } from './policy-sql.ts';

/**
 * Whether the caller has the ability on the project of this id; false where it is gone. For abilities that archived projects
 * keep. With an offset it is planned once: PostgreSQL plans an `exists` without one a second time, for all projects at once,
 * and all that is in it with it, which took much longer than to run it.
 */
export const mayInProject = (
  ability: ProjectAbility,
  caller: Caller,
  id: RawBuilder<unknown>,
): RawBuilder<SqlBool> => sql<SqlBool>`exists (
  with ${callerCte(caller)} select from projects p join namespaces n on n.id = p.namespace_id
  where p.id = ${id} and not p.deleting and ${mayInProjects(ability, caller, sql.raw(projectLevel(CALLER, TODAY)))}
  offset 0)`;
