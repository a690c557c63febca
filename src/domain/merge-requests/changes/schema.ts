/** Fields for opening or changing a merge request (facts: Merge requests). */
import Type, { type Static } from 'typebox';
import { refNamePattern } from '../../../platform/git/names.ts';
import {
  atLeastOne,
  commaList,
  dateTime,
  deprecated,
  integerId,
  notBlank,
  nullable,
  parameterRules,
  stringEnum,
} from '../../../platform/http/parameters/schema.ts';

/** As many assignees and as many reviewers a merge request has at most. */
export const MAX_PEOPLE = 200;
const MAX_APPROVALS = 100;

const people = (description: string) =>
  Type.Optional(commaList(Type.Integer({ minimum: 0 }), { ruled: { maxItems: MAX_PEOPLE }, description }));
const labels = () => Type.Optional(commaList(Type.String(), { maxItems: 200 }));

const properties = {
  assignee_id: Type.Optional(nullable(Type.Integer({ minimum: 0, description: '0 for nobody.' }))),
  assignee_ids: people('0 or nothing for nobody; one below premium.'),
  reviewer_ids: people('0 or nothing for nobody; one below premium.'),
  description: Type.Optional(nullable(Type.String())),
  labels: labels(),
  add_labels: labels(),
  remove_labels: labels(),
  milestone_id: Type.Optional(nullable(Type.Integer({ minimum: 0, description: '0 for none.' }))),
  remove_source_branch: Type.Optional(nullable(Type.Boolean())),
  allow_collaboration: Type.Optional(
    nullable(Type.Boolean({ description: 'Whether those who may merge may push to the source of a fork.' })),
  ),
  allow_maintainer_to_push: Type.Optional(deprecated(nullable(Type.Boolean()), 'allow_collaboration')),
  squash: Type.Optional(nullable(Type.Boolean())),
  merge_after: Type.Optional(nullable(dateTime())),
  approvals_before_merge: Type.Optional(
    deprecated(nullable(Type.Integer({ minimum: 0, maximum: MAX_APPROVALS })), 'approval rules'),
  ),
  approval_rules_attributes: Type.Optional(
    Type.Array(
      Type.Object({
        id: integerId({ description: 'An approval rule of the merge request itself.' }),
        approvals_required: Type.Integer({ minimum: 0, maximum: MAX_APPROVALS }),
      }),
      { maxItems: 100 },
    ),
  ),
};

/** A description of 1,048,576 characters, each of four bytes, and the rest. */
export const BODY_LIMIT = 8 * 1024 * 1024;

const branch = (description: string) =>
  Type.String({ maxLength: 1_000, ruled: { pattern: refNamePattern }, description });

export const CreateMergeRequest = Type.Object({
  title: Type.String(notBlank),
  source_branch: branch('A branch of this project.'),
  target_branch: branch('A branch of the target project.'),
  target_project_id: Type.Optional(integerId({ description: 'Without it this project.' })),
  ...properties,
});
export type CreateMergeRequest = Static<typeof CreateMergeRequest>;

export const OneMergeRequest = Type.Object({ merge_request_iid: integerId() });

const changes = {
  title: Type.Optional(Type.String(notBlank)),
  target_branch: Type.Optional(branch('A branch of the target project.')),
  state_event: Type.Optional(stringEnum(['close', 'reopen'])),
  discussion_locked: Type.Optional(nullable(Type.Boolean())),
  ...properties,
};
export const UpdateMergeRequest = Type.Object(
  { ...OneMergeRequest.properties, ...changes },
  parameterRules(atLeastOne(Object.keys(changes))),
);
export type UpdateMergeRequest = Static<typeof UpdateMergeRequest>;
