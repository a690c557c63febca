/** The parameters of every list of issues (facts: Issues). */
import Type, { type Static } from 'typebox';
import { commaList, dateTime, integerId, stringEnum } from '../../../../platform/http/parameters/schema.ts';
import { healthStatuses, issueTypes } from '../../changes/issue-changes.ts';
import { dueDateWords } from './due-dates.ts';

/** None, Any, or a number. */
const noneAnyOr = (description: string) =>
  Type.Optional(Type.String({ pattern: '^([Nn]one|[Aa]ny|\\d{1,15})$', description }));
const names = (description: string) =>
  Type.Optional(commaList(Type.String(), { maxItems: 100, description }));
const milestoneStates = ['Any', 'None', 'Upcoming', 'Started'] as const;

const either = {
  labels: names('All of these labels; None or Any alone.'),
  milestone: Type.Optional(Type.String({ description: 'Title of the milestone; None or Any.' })),
  milestone_id: Type.Optional(stringEnum(milestoneStates)),
  iids: Type.Optional(commaList(Type.Integer(), { maxItems: 1_000, description: 'Numbers in the project.' })),
  author_id: Type.Optional(Type.Integer()),
  author_username: Type.Optional(Type.String()),
  assignee_id: noneAnyOr('None, Any or the id of an assignee.'),
  assignee_username: names('Names of assignees.'),
  weight: noneAnyOr('None, Any or a weight.'),
  iteration_id: Type.Optional(
    Type.String({
      pattern: '^([Nn]one|[Aa]ny|[Cc]urrent|\\d{1,15})$',
      description: 'None, Any, Current or the id of an iteration.',
    }),
  ),
  iteration_title: Type.Optional(Type.String()),
};

/** Filters of statistics, and of lists as well. */
export const IssueFilterFields = {
  ...either,
  search: Type.Optional(Type.String({ maxLength: 1_000, description: 'Words of the title or description.' })),
  in: Type.Optional(commaList(stringEnum(['title', 'description']), { description: 'Where to search.' })),
  created_after: Type.Optional(dateTime()),
  created_before: Type.Optional(dateTime()),
  updated_after: Type.Optional(dateTime()),
  updated_before: Type.Optional(dateTime()),
  not: Type.Optional(Type.Object(either, { description: 'Only issues of which these are not true.' })),
  scope: Type.Optional(
    stringEnum(['created_by_me', 'assigned_to_me', 'created-by-me', 'assigned-to-me', 'all']),
  ),
  my_reaction_emoji: Type.Optional(
    Type.String({ description: 'Name of an emoji of the caller; None or Any.' }),
  ),
  confidential: Type.Optional(Type.Boolean()),
  epic_id: noneAnyOr('None, Any or the id of an epic.'),
  health_status: Type.Optional(stringEnum([...healthStatuses, 'none', 'any'])),
};
const FilterFields = Type.Object(IssueFilterFields);

/** Filters of lists alone. */
export const IssueListFields = {
  ...IssueFilterFields,
  state: Type.Optional(stringEnum(['opened', 'closed', 'all'])),
  closed_by_id: Type.Optional(integerId()),
  due_date: Type.Optional(stringEnum(dueDateWords)),
  issue_type: Type.Optional(stringEnum(issueTypes)),
};
const ListFields = Type.Object(IssueListFields);

export type IssueFilterInput = Static<typeof FilterFields> &
  Pick<Static<typeof ListFields>, 'state' | 'closed_by_id' | 'due_date' | 'issue_type'>;
export type IssueScope = 'created_by_me' | 'assigned_to_me' | 'all';
