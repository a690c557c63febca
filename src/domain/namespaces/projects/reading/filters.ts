/** The filters of every list of projects: their parameters, and their conditions. */
import { type RawBuilder, sql } from 'kysely';
import Type, { type Static } from 'typebox';
import type { Caller } from '../../../../kernel/actor.ts';
import {
  assignableLevels,
  OWNER,
  visibilityLevel,
  visibilityNames,
} from '../../../../kernel/policy/roles.ts';
import { containing } from '../../../../platform/db/search.ts';
import { commaList, date, dateTime, stringEnum } from '../../../../platform/http/parameters/schema.ts';

/** `order_by` names and the columns they order by. */
export const projectOrders = {
  id: 'p.id',
  name: 'p.name',
  path: 'p.path',
  created_at: 'p.created_at',
  updated_at: 'p.updated_at',
  last_activity_at: 'p.last_activity_at',
  star_count: 'p.star_count',
} as const;
export type ProjectOrder = keyof typeof projectOrders;

/** The projects that a list starts from, before its filters. */
export type ProjectListScope = {
  /** Only those that the caller reaches as a member. */
  membership: boolean;
  /** With at least this role; 0 for any. */
  leastLevel: number;
};

const flag = (description: string) => Type.Optional(Type.Boolean({ description }));

export const ProjectFilterFields = {
  order_by: Type.Optional(
    stringEnum([...(Object.keys(projectOrders) as ProjectOrder[]), 'similarity'], {
      description: 'Column to order by.',
    }),
  ),
  sort: Type.Optional(stringEnum(['asc', 'desc'])),
  archived: flag('Only archived projects, or only others.'),
  active: flag('Only projects neither archived nor marked for deletion, or only others.'),
  visibility: Type.Optional(stringEnum(visibilityNames)),
  search: Type.Optional(
    Type.String({ maxLength: 1_000, description: 'Part of the name, path or description.' }),
  ),
  search_namespaces: flag('Search in the full path of the namespace too.'),
  owned: flag('Only projects that the caller owns.'),
  starred: flag('Only projects that the caller starred.'),
  imported: flag('Only imported projects.'),
  membership: flag('Only projects that the caller is a member of.'),
  with_issues_enabled: flag('Only projects with issues.'),
  with_merge_requests_enabled: flag('Only projects with merge requests.'),
  min_access_level: Type.Optional(
    Type.Unsafe<number>({
      type: 'integer',
      enum: [...assignableLevels],
      description: 'Least role of the caller.',
    }),
  ),
  id_after: Type.Optional(Type.Integer()),
  id_before: Type.Optional(Type.Integer()),
  last_activity_after: Type.Optional(dateTime()),
  last_activity_before: Type.Optional(dateTime()),
  updated_after: Type.Optional(dateTime()),
  updated_before: Type.Optional(dateTime()),
  repository_storage: Type.Optional(Type.String({ description: 'Administrators only.' })),
  topic: Type.Optional(commaList(Type.String(), { maxItems: 100, description: 'All of these topics.' })),
  topic_id: Type.Optional(Type.Integer({ description: 'The topic of this id.' })),
  include_pending_delete: flag('Projects marked for deletion are always listed; `active` leaves them out.'),
  marked_for_deletion_on: Type.Optional(date()),
  simple: flag('Only the basic record.'),
  statistics: flag('With statistics, for Reporters and up.'),
  with_custom_attributes: flag('With custom attributes, for administrators.'),
  custom_attributes: Type.Optional(Type.Record(Type.String(), Type.String())),
};
const Fields = Type.Object(ProjectFilterFields);
export type ProjectFilterInput = Static<typeof Fields>;

export type ProjectFilters = { scope: ProjectListScope; where: RawBuilder<unknown> };

const feature = (name: string) => sql`coalesce(p.settings ->> ${name}, 'enabled')`;

/** The conditions of the parameters, over `projects p`. Parameters only for administrators count for them only. */
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
  add(input.starred || undefined, () =>
    caller
      ? sql`exists (select from stars s where s.project_id = p.id and s.user_id = ${caller.id})`
      : sql`false`,
  );
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
