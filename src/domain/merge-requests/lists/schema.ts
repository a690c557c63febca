/** The parameters of every list of merge requests (facts: Merge requests). */
import Type, { type Static } from 'typebox';
import { commaList, dateTime, integerId, stringEnum } from '../../../platform/http/parameters/schema.ts';
import { mergeRequestOrders } from '../records/list-queries.ts';

const noneAnyOr = (description: string) =>
  Type.Optional(Type.String({ pattern: '^([Nn]one|[Aa]ny|\\d{1,15})$', description }));
const names = (description: string) =>
  Type.Optional(commaList(Type.String(), { maxItems: 100, description }));
/** Each is a condition of its own. */
const MAX_APPROVERS = 5;

const either = {
  author_id: Type.Optional(Type.Integer()),
  author_username: Type.Optional(Type.String()),
  assignee_id: noneAnyOr('None, Any or the id of an assignee.'),
  assignee_username: names('Names of assignees.'),
  reviewer_id: noneAnyOr('None, Any or the id of a reviewer.'),
  reviewer_username: Type.Optional(Type.String({ description: 'Name of a reviewer; None or Any.' })),
  labels: names('All of these labels; None or Any alone.'),
  milestone: Type.Optional(Type.String({ description: 'Title of the milestone; None or Any.' })),
  my_reaction_emoji: Type.Optional(
    Type.String({ description: 'Name of an emoji of the caller; None or Any.' }),
  ),
};

export const scopes = [
  'created-by-me',
  'assigned-to-me',
  'created_by_me',
  'assigned_to_me',
  'reviews_for_me',
  'all',
] as const;
export type MergeRequestScope = 'created_by_me' | 'assigned_to_me' | 'reviews_for_me' | 'all';

export const MergeRequestListFields = {
  ...either,
  state: Type.Optional(stringEnum(['opened', 'closed', 'locked', 'merged', 'all'])),
  order_by: Type.Optional(stringEnum(mergeRequestOrders, { description: 'What to order by.' })),
  sort: Type.Optional(stringEnum(['asc', 'desc'])),
  with_labels_details: Type.Optional(Type.Boolean({ description: 'Labels as records, not names.' })),
  with_merge_status_recheck: Type.Optional(
    Type.Boolean({ description: 'Judges anew those whose merge status is not known.' }),
  ),
  created_after: Type.Optional(dateTime()),
  created_before: Type.Optional(dateTime()),
  updated_after: Type.Optional(dateTime()),
  updated_before: Type.Optional(dateTime()),
  merged_after: Type.Optional(dateTime()),
  merged_before: Type.Optional(dateTime()),
  view: Type.Optional(stringEnum(['simple'])),
  scope: Type.Optional(stringEnum(scopes)),
  source_branch: Type.Optional(Type.String({ maxLength: 1_000 })),
  source_project_id: Type.Optional(integerId()),
  target_branch: Type.Optional(Type.String({ maxLength: 1_000 })),
  search: Type.Optional(Type.String({ maxLength: 1_000, description: 'Words of the title or description.' })),
  in: Type.Optional(commaList(stringEnum(['title', 'description']), { description: 'Where to search.' })),
  wip: Type.Optional(stringEnum(['yes', 'no'], { description: 'Whether it is a draft.' })),
  draft: Type.Optional(Type.Boolean()),
  not: Type.Optional(Type.Object(either, { description: 'Only those of which these are not true.' })),
  approved_by_ids: Type.Optional(
    commaList(Type.String({ pattern: '^([Nn]one|[Aa]ny|\\d{1,15})$' }), {
      maxItems: MAX_APPROVERS,
      description: 'Ids of users who all approved it; None or Any alone.',
    }),
  ),
  approver_ids: Type.Optional(
    commaList(Type.String({ pattern: '^([Nn]one|[Aa]ny|\\d{1,15})$' }), {
      maxItems: MAX_APPROVERS,
      description: 'Ids of users whom its rules all name; None or Any alone: of rules.',
    }),
  ),
  approved: Type.Optional(stringEnum(['yes', 'no'], { description: 'Whether anybody approved it.' })),
  approved_by_usernames: Type.Optional(
    commaList(Type.String(), {
      maxItems: MAX_APPROVERS,
      description: 'Names of users who all approved it; None or Any alone.',
    }),
  ),
  merge_user_id: Type.Optional(integerId()),
  merge_user_username: Type.Optional(Type.String()),
};
export const ProjectListFields = {
  ...MergeRequestListFields,
  iids: Type.Optional(commaList(Type.Integer(), { maxItems: 1_000, description: 'Numbers in the project.' })),
};
const ListFields = Type.Object(ProjectListFields);

export type MergeRequestListInput = Static<typeof ListFields>;
