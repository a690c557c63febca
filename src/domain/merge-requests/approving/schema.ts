/** Approvals in requests and responses (facts: MR approvals). */
import Type, { type Static } from 'typebox';
import { Group } from '../../../kernel/namespaces/group-records.ts';
import { UserBasic } from '../../../kernel/users/records.ts';
import { dateTime, nullable, stringEnum } from '../../../platform/http/parameters/schema.ts';
import { OneMergeRequest } from '../changes/schema.ts';

export const ApproveInput = Type.Object({
  ...OneMergeRequest.properties,
  sha: Type.Optional(
    Type.String({ maxLength: 64, description: 'Refused where the source has another newest commit.' }),
  ),
  approval_password: Type.Optional(
    Type.String({ maxLength: 1_000, description: 'The password of the caller, where the project wants it.' }),
  ),
  publish_review: Type.Optional(
    Type.Boolean({ description: 'Publishes the draft notes of the caller, too.' }),
  ),
});

const ruleType = stringEnum(['any_approver', 'regular', 'report_approver', 'code_owner']);

const ShortRule = Type.Object({ id: Type.Integer(), name: Type.String(), rule_type: ruleType });

/** Always empty: the approval rules have them. */
const nobody = Type.Array(Type.Object({}));

/** Fields that are there from premium up. */
const premium = {
  id: Type.Integer(),
  iid: Type.Integer(),
  project_id: Type.Integer(),
  title: Type.String(),
  description: nullable(Type.String()),
  state: stringEnum(['opened', 'closed', 'merged', 'locked']),
  created_at: dateTime(),
  updated_at: dateTime(),
  merge_status: Type.String(),
  approvals_required: Type.Integer(),
  approvals_left: Type.Integer(),
  require_password_to_approve: Type.Boolean(),
  suggested_approvers: Type.Array(UserBasic),
  approvers: nobody,
  approver_groups: nobody,
  approval_rules_left: Type.Array(ShortRule),
  has_approval_rules: Type.Boolean(),
  merge_request_approvers_available: Type.Boolean(),
  multiple_approval_rules_available: Type.Boolean(),
  invalid_approvers_rules: Type.Array(ShortRule),
};

export const ApprovalsRecord = Type.Object({
  user_has_approved: Type.Boolean(),
  user_can_approve: Type.Boolean(),
  approved: Type.Boolean(),
  approved_by: Type.Array(Type.Object({ user: UserBasic, approved_at: dateTime() })),
  ...Type.Partial(Type.Object(premium)).properties,
});
export type ApprovalsRecord = Static<typeof ApprovalsRecord>;

export const RuleRecord = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  rule_type: ruleType,
  report_type: nullable(stringEnum(['code_coverage'])),
  section: nullable(Type.String()),
  eligible_approvers: Type.Array(UserBasic),
  approvals_required: Type.Integer(),
  users: Type.Array(UserBasic),
  groups: Type.Array(Group),
  contains_hidden_groups: Type.Boolean(),
  source_rule: nullable(Type.Object({ id: Type.Integer() })),
  overridden: Type.Boolean(),
});
export type RuleRecord = Static<typeof RuleRecord>;

export const StateRecord = Type.Object({
  approval_rules_overwritten: Type.Boolean(),
  rules: Type.Array(
    Type.Object({
      ...RuleRecord.properties,
      code_owner: Type.Boolean(),
      approved_by: Type.Array(UserBasic),
      approved: Type.Boolean(),
    }),
  ),
});
export type StateRecord = Static<typeof StateRecord>;

/** The same under an older address. */
export const SettingsOfOne = Type.Object({
  approval_rules_overwritten: Type.Boolean(),
  rules: Type.Array(
    Type.Object({
      ...StateRecord.properties.rules.items.properties,
      approvers: Type.Array(UserBasic),
    }),
  ),
});
