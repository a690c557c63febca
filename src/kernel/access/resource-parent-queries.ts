/** What is below a resource parent, as the caller sees it, and the lock of the names in it. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { ahead, type Db } from '../../platform/db/database.ts';
import type { Caller } from '../actor.ts';
import { GUEST } from '../policy/roles.ts';
import { openTo, seesAll } from './group-list-queries.ts';
import { CALLER, callerCte, reachedCtes, TODAY } from './membership-queries.ts';

/**
 * Serializes changes of names that are unique across a group and its projects; others may still read, and
 * write rows that refer to it.
 */
export async function lockNamespace(tx: Db, id: number): Promise<void> {
  await ahead(tx).selectFrom('namespaces').select('id').where('id', '=', id).forNoKeyUpdate().execute();
}

/** The ids that the caller reaches as Guest or more; `from` is one of the CTEs of reachedCtes(). */
const reached = (caller: Caller, from: 'reached_groups' | 'reached_projects'): RawBuilder<unknown> =>
  caller === undefined
    ? sql`(select null::bigint)`
    : sql`(with ${callerCte(caller)}, ${sql.raw(reachedCtes(CALLER, TODAY))}
        select id from ${sql.raw(from)} where level >= ${sql.lit(GUEST)})`;

/** The ids of the group and its descendants whose planning the caller reads, as `read_planning` decides. */
export function groupsBelow(caller: Caller, groupId: number): RawBuilder<unknown> {
  const seen = seesAll(caller)
    ? sql<SqlBool>`true`
    : sql<SqlBool>`(n.visibility >= ${sql.lit(openTo(caller))} or n.id in ${reached(caller, 'reached_groups')})`;
  return sql`(select n.id from namespaces n
    where n.ancestor_ids @> array[${groupId}]::bigint[] and n.kind = 'group' and not n.deleting and ${seen})`;
}

/** The ids of projects directly in `groups`, a list or statement of ids, whose planning the caller reads. */
export function projectsIn(caller: Caller, groups: RawBuilder<unknown>): RawBuilder<unknown> {
  const seen = seesAll(caller)
    ? sql<SqlBool>`true`
    : sql<SqlBool>`(p.visibility >= ${sql.lit(openTo(caller))}
        or p.namespace_id in ${reached(caller, 'reached_groups')} or p.id in ${reached(caller, 'reached_projects')})`;
  return sql`(select p.id from projects p where p.namespace_id in ${groups} and not p.deleting and ${seen})`;
}
