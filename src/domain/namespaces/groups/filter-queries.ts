/** The filters of lists of groups, as conditions over `namespaces n`. */

import { type RawBuilder, sql } from 'kysely';
import {
  type GroupListScope,
  type GroupOrder,
  type GroupQuery,
  seesAll,
  today,
} from '../../../kernel/access/group-list-queries.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { groupAttributeConditions } from '../../../kernel/namespaces/custom-attribute-queries.ts';
import { MAINTAINER, OWNER, visibilityLevel } from '../../../kernel/policy/roles.ts';
import { containing } from '../../../platform/db/search.ts';
import type { GroupFilters } from './schema.ts';

const archived = sql`exists (select from namespaces a where a.id = any(n.ancestor_ids) and a.archived)`;
const inactive = sql`(n.marked_for_deletion_on is not null or ${archived})`;

/** The conditions of the parameters; those for administrators count for them only. */
function conditions(input: GroupFilters, caller: Caller): RawBuilder<unknown>[] {
  const where: RawBuilder<unknown>[] = [];
  const add = <T>(value: T | undefined, condition: (value: T) => RawBuilder<unknown>): void => {
    if (value !== undefined) where.push(condition(value));
  };
  add(input.search || undefined, (value) => {
    const pattern = containing(value);
    return sql`(n.name ilike ${pattern} or n.path ilike ${pattern})`;
  });
  add(input.visibility, (value) => sql`n.visibility = ${visibilityLevel(value)}`);
  add(input.skip_groups, (value) => sql`not n.id = any(${value}::bigint[])`);
  add(input.top_level_only || undefined, () => sql`n.parent_id is null`);
  add(input.marked_for_deletion_on, (value) => sql`n.marked_for_deletion_on = ${value}`);
  add(input.archived, (value) => (value ? archived : sql`not ${archived}`));
  add(input.active, (value) => (value ? sql`not ${inactive}` : inactive));
  return [...where, ...groupAttributeConditions(caller, input.custom_attributes)];
}

const both = (parts: RawBuilder<unknown>[]): RawBuilder<unknown> => sql.join(parts, sql.raw(' and '));

function order(input: GroupFilters): GroupOrder {
  const by = input.order_by ?? 'name';
  if (by !== 'similarity' || !input.search) return { by, sort: input.sort ?? 'asc' };
  return { by, sort: 'desc', search: input.search };
}

/**
 * The groups that a list starts from: anonymous callers and administrators from all they see, others from
 * their own.
 */
const scopeOf = (input: GroupFilters, caller: Caller): GroupListScope => ({
  all: input.all_available ?? (caller === undefined || seesAll(caller)),
  leastLevel: Math.max(input.min_access_level ?? 0, input.owned ? OWNER : 0),
});

/** The query of a list with the filters of the group lists, further limited to what `within` admits. */
export const groupQuery = (
  input: GroupFilters,
  caller: Caller,
  within: RawBuilder<unknown> = sql`true`,
): GroupQuery => ({
  caller,
  scope: scopeOf(input, caller),
  where: both([within, ...conditions(input, caller)]),
  order: order(input),
});

/** All groups that the caller sees among those that `within` admits, as a member or not. */
export const visibleGroupQuery = (
  input: GroupFilters,
  caller: Caller,
  within: RawBuilder<unknown>,
): GroupQuery => groupQuery({ ...input, all_available: true }, caller, within);

/** Groups that a group could be moved into by the caller: those in which the caller may create groups. */
export const transferTargetQuery = (
  group: { id: number; parent_id: number | null },
  input: { search?: string },
  caller: Caller,
): GroupQuery => ({
  caller,
  scope: {
    all: true,
    leastLevel: caller?.admin ? 0 : MAINTAINER,
    reached: sql`(r.level >= ${OWNER} or coalesce(n.settings ->> 'subgroup_creation_level', 'maintainer') = 'maintainer')`,
  },
  where: both([
    sql`not n.ancestor_ids @> array[${group.id}]::bigint[] and n.id <> ${group.parent_id ?? 0}`,
    sql`n.marked_for_deletion_on is null`,
    ...conditions(input, caller),
  ]),
  order: { by: 'name', sort: 'asc' },
});

/** Groups linked to another by shares that have not ended. */
export const linked = (select: 'shared_group_id' | 'shared_with_group_id', ids: readonly number[]) => {
  const other = select === 'shared_group_id' ? 'shared_with_group_id' : 'shared_group_id';
  return sql`n.id in (select ${sql.ref(select)} from group_group_links
    where ${sql.ref(other)} = any(${[...ids]}::bigint[]) and (expires_at is null or expires_at > ${today()}))`;
};
