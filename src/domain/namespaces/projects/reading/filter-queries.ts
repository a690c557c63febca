/** The filters of lists of projects, as conditions over `projects p`. */
import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../../../../kernel/actor.ts';
import { OWNER, visibilityLevel } from '../../../../kernel/policy/roles.ts';
import { now } from '../../../../platform/clock.ts';
import { containing } from '../../../../platform/db/search.ts';
import type { ProjectFilterInput, ProjectOrder } from './schema.ts';

/** The projects that a list starts from, before its filters. */
export type ProjectListScope = {
  /** Only those that the caller reaches as a member. */
  membership: boolean;
  /** With at least this role; 0 for any. */
  leastLevel: number;
};

export type ProjectFilters = { scope: ProjectListScope; where: RawBuilder<unknown> };

const feature = (name: string) => sql`coalesce(p.settings ->> ${name}, 'enabled')`;

/** The conditions of the parameters. Parameters only for administrators count for them only. */
export function projectFilters(input: ProjectFilterInput, caller: Caller): ProjectFilters {
  const where: RawBuilder<unknown>[] = [];
  const add = <T>(value: T | undefined, condition: (value: T) => RawBuilder<unknown>): void => {
    if (value !== undefined) where.push(condition(value));
  };
  const underArchived = sql`(p.archived or exists (
    select from namespaces n join namespaces a on a.id = any(n.ancestor_ids) where n.id = p.namespace_id and a.archived))`;
  add(input.archived, (value) => (value ? underArchived : sql`not ${underArchived}`));
  add(input.active, (value) =>
    value
      ? sql`not (${underArchived} or p.marked_for_deletion_on is not null)`
      : sql`(${underArchived} or p.marked_for_deletion_on is not null)`,
  );
  add(input.visibility, (value) => sql`p.visibility = ${visibilityLevel(value)}`);
  add(input.search === '' ? undefined : input.search, (value) => {
    const pattern = containing(value);
    const own = sql`p.name ilike ${pattern} or p.path ilike ${pattern} or p.description ilike ${pattern}`;
    return input.search_namespaces
      ? sql`(${own} or exists (select from namespaces n where n.id = p.namespace_id and n.full_path ilike ${pattern}))`
      : sql`(${own})`;
  });
  add(input.starred || undefined, () => (caller ? isStarredBy(caller.id) : sql`false`));
  add(input.imported || undefined, () => sql`false`);
  add(
    input.with_issues_enabled,
    (value) => sql`(${feature('issues_access_level')} <> 'disabled') = ${value}`,
  );
  add(
    input.with_merge_requests_enabled,
    (value) => sql`(${feature('merge_requests_access_level')} <> 'disabled') = ${value}`,
  );
  add(input.id_after, (value) => sql`p.id > ${value}`);
  add(input.id_before, (value) => sql`p.id < ${value}`);
  add(input.last_activity_after, (value) => sql`p.last_activity_at > ${new Date(value)}`);
  add(input.last_activity_before, (value) => sql`p.last_activity_at < ${new Date(value)}`);
  add(input.updated_after, (value) => sql`p.updated_at > ${new Date(value)}`);
  add(input.updated_before, (value) => sql`p.updated_at < ${new Date(value)}`);
  add(caller?.admin ? input.repository_storage : undefined, (value) => sql`p.repository_storage = ${value}`);
  add(
    input.topic,
    (topics) => sql`p.topics @> array(select coalesce(t.name, asked) from unnest(${topics}::text[]) asked
      left join topics t on lower(t.name) = lower(asked))`,
  );
  add(
    input.topic_id,
    (id) => sql`p.topics @> array[coalesce((select t.name from topics t where t.id = ${id}), '')]`,
  );
  add(input.marked_for_deletion_on, (value) => sql`p.marked_for_deletion_on = ${value}`);
  for (const [key, value] of Object.entries((caller?.admin && input.custom_attributes) || {})) {
    where.push(sql`exists (select from custom_attributes c
      where c.project_id = p.id and c.key = ${key} and c.value = ${value})`);
  }
  return {
    scope: {
      membership: input.membership ?? false,
      leastLevel: Math.max(input.min_access_level ?? 0, input.owned ? OWNER : 0),
    },
    where: where.length === 0 ? sql`true` : sql.join(where, sql.raw(' and ')),
  };
}

/** The requested order; the newest first without a request. */
export const projectOrder = (input: ProjectFilterInput): { by: ProjectOrder; sort: 'asc' | 'desc' } => ({
  by: input.order_by === undefined || input.order_by === 'similarity' ? 'created_at' : input.order_by,
  sort: input.sort ?? 'desc',
});

export const isForkOf = (projectId: number): RawBuilder<unknown> => sql`p.forked_from_id = ${projectId}`;

export const isOwnedBy = (userId: number): RawBuilder<unknown> =>
  sql`p.namespace_id in (select id from namespaces where owner_id = ${userId})`;

export const isStarredBy = (userId: number): RawBuilder<unknown> =>
  sql`exists (select from stars s where s.project_id = p.id and s.user_id = ${userId})`;

const YEAR_MS = 365 * 86_400_000;

/** The user was active in it during the last year. */
export const isContributedToBy = (userId: number): RawBuilder<unknown> => sql`exists (
  select from activity_events e where e.project_id = p.id and e.author_id = ${userId}
  and e.created_at > ${new Date(now().getTime() - YEAR_MS)})`;

export const isInGroup = (groupId: number): RawBuilder<unknown> => sql`p.namespace_id = ${groupId}`;

export const isBelowGroup = (groupId: number): RawBuilder<unknown> =>
  sql`p.namespace_id in (select id from namespaces where ancestor_ids @> array[${groupId}]::bigint[])`;

export const isSharedWith = (groupId: number): RawBuilder<unknown> =>
  sql`exists (select from project_group_links l where l.project_id = p.id and l.group_id = ${groupId})`;
