/** Fields for making or changing an issue. */
import Type, { type Static } from 'typebox';
import {
  atLeastOne,
  commaList,
  date,
  dateTime,
  deprecated,
  integerId,
  notBlank,
  nullable,
  parameterRules,
  stringEnum,
} from '../../../../platform/http/parameters/schema.ts';
import { healthStatuses, issueTypes, severities } from '../../changes/issue-changes.ts';

const properties = {
  description: Type.Optional(nullable(Type.String())),
  assignee_ids: Type.Optional(
    commaList(Type.Integer({ minimum: 0 }), {
      maxItems: 100,
      description: '0 or nothing for nobody; one below premium.',
    }),
  ),
  assignee_id: Type.Optional(deprecated(nullable(Type.Integer({ minimum: 0 })), 'assignee_ids')),
  milestone_id: Type.Optional(nullable(Type.Integer({ minimum: 0, description: '0 for none.' }))),
  labels: Type.Optional(commaList(Type.String(), { maxItems: 200 })),
  add_labels: Type.Optional(commaList(Type.String(), { maxItems: 200 })),
  remove_labels: Type.Optional(commaList(Type.String(), { maxItems: 200 })),
  due_date: Type.Optional(nullable(date())),
  start_date: Type.Optional(nullable(date())),
  confidential: Type.Optional(Type.Boolean()),
  discussion_locked: Type.Optional(nullable(Type.Boolean())),
  issue_type: Type.Optional(stringEnum(issueTypes)),
  severity: Type.Optional(stringEnum([...severities, ...severities.map((name) => name.toLowerCase())])),
  weight: Type.Optional(
    nullable(Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: 'Premium.' })),
  ),
  health_status: Type.Optional(nullable(stringEnum(healthStatuses, { description: 'Ultimate.' }))),
  epic_id: Type.Optional(nullable(Type.Integer({ minimum: 0, description: 'Premium; 0 for none.' }))),
  epic_iid: Type.Optional(deprecated(nullable(Type.Integer({ minimum: 0 })), 'epic_id')),
  created_at: Type.Optional(dateTime({ description: 'For administrators and owners.' })),
};

/** A description of 1,048,576 characters, each of four bytes, and the rest. */
export const BODY_LIMIT = 8 * 1024 * 1024;

export const CreateIssue = Type.Object({
  title: Type.String(notBlank),
  iid: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000_000_000, description: 'For administrators and owners.' }),
  ),
  merge_request_to_resolve_discussions_of: Type.Optional(
    integerId({ description: 'The number of a merge request, whose open threads the issue takes over.' }),
  ),
  discussion_to_resolve: Type.Optional(
    Type.String({ maxLength: 255, description: 'The id of the one thread of it that the issue takes over.' }),
  ),
  ...properties,
});
export type CreateIssue = Static<typeof CreateIssue>;

export const OneIssue = Type.Object({ issue_iid: integerId() });

const changes = {
  title: Type.Optional(Type.String(notBlank)),
  state_event: Type.Optional(stringEnum(['reopen', 'close'])),
  ...properties,
  updated_at: Type.Optional(dateTime({ description: 'For administrators and owners.' })),
};
export const UpdateIssue = Type.Object(
  { ...OneIssue.properties, ...changes },
  parameterRules(atLeastOne(Object.keys(changes))),
);
export type UpdateIssue = Static<typeof UpdateIssue>;
