/** The parameters of every list of projects. */
import Type, { type Static } from 'typebox';
import { assignableLevels, visibilityNames } from '../../../../kernel/policy/roles.ts';
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
