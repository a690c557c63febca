/** Approval rules of projects and groups in requests and responses (facts: merge requests §6.2; Resource entities). */
import Type, { type Static, type TSchemaOptions } from 'typebox';
import { Group } from '../../../kernel/namespaces/group-records.ts';
import { UserBasic } from '../../../kernel/users/records.ts';
import {
  commaList,
  deprecated,
  integerId,
  nullable,
  stringEnum,
} from '../../../platform/http/parameters/schema.ts';
import { ProtectedBranch } from '../../repositories/index.ts';

/** Of one rule. */
const MAX_USERS = 500;
const MAX_GROUPS = 100;
const MAX_BRANCHES = 100;

/** Zero stands for nothing: clients empty a list by it. */
const idList = (maxItems: number, options: TSchemaOptions = {}) =>
  commaList(Type.Integer({ minimum: 0 }), { maxItems, ...options });
const ids = (maxItems: number, description: string) => Type.Optional(idList(maxItems, { description }));

const approvers = {
  user_ids: ids(MAX_USERS, 'Users who may approve; those who are no members are left out.'),
  users: Type.Optional(deprecated(idList(MAX_USERS), 'user_ids')),
  usernames: Type.Optional(
    commaList(Type.String(), { maxItems: MAX_USERS, description: 'The same, by username.' }),
  ),
  group_ids: ids(MAX_GROUPS, 'Groups whose direct members may approve.'),
  groups: Type.Optional(deprecated(idList(MAX_GROUPS), 'group_ids')),
};

const branches = {
  protected_branch_ids: ids(MAX_BRANCHES, 'The branches that the rule is for; all where none is named.'),
  applies_to_all_protected_branches: Type.Optional(
    Type.Boolean({ description: 'The rule is for every protected branch, and for no other.' }),
  ),
};

const name = Type.String({ maxLength: 255 });
const approvals_required = Type.Integer({ minimum: 0, maximum: 100 });

export const ruleTypes = ['any_approver', 'regular', 'report_approver'] as const;
const reportTypes = ['code_coverage'] as const;
const chosenType = (description: string) => Type.Optional(stringEnum(ruleTypes, { description }));

const remove_hidden_groups = Type.Optional(
  Type.Boolean({ description: 'Groups that the caller does not see go from the rule, too.' }),
);

export const CreateInput = Type.Object({
  name,
  approvals_required,
  rule_type: chosenType('any_approver where neither users nor groups are named, else regular.'),
  report_type: Type.Optional(stringEnum(reportTypes)),
  ...approvers,
  ...branches,
});

const one = { approval_rule_id: integerId() };
export const OneInput = Type.Object(one);
export const UpdateInput = Type.Object({
  ...one,
  name: Type.Optional(name),
  approvals_required: Type.Optional(approvals_required),
  ...approvers,
  ...branches,
  remove_hidden_groups,
});

const ofMergeRequest = {
  user_ids: approvers.user_ids,
  usernames: approvers.usernames,
  group_ids: approvers.group_ids,
};
export const OwnRuleInput = Type.Object({
  name,
  approvals_required,
  approval_project_rule_id: Type.Optional(
    integerId({ description: 'A rule of the project, whose name and approvers the new one has.' }),
  ),
  ...ofMergeRequest,
});
export const OwnRuleChanges = Type.Object({
  name: Type.Optional(name),
  approvals_required: Type.Optional(approvals_required),
  ...ofMergeRequest,
  remove_hidden_groups,
});

export const CreateGroupInput = Type.Object({
  name,
  approvals_required,
  rule_type: CreateInput.properties.rule_type,
  ...approvers,
});
export const UpdateGroupInput = Type.Object({
  ...one,
  name: Type.Optional(name),
  approvals_required: Type.Optional(approvals_required),
  rule_type: chosenType('A rule for any approver has neither users nor groups.'),
  ...approvers,
  remove_hidden_groups,
});

export type NewRule = Static<typeof CreateInput>;
export type RuleChanges = Partial<NewRule> & { remove_hidden_groups?: boolean };

export const ApprovalRuleRecord = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  rule_type: stringEnum(ruleTypes),
  report_type: nullable(stringEnum(reportTypes)),
  eligible_approvers: Type.Array(UserBasic),
  approvals_required: Type.Integer(),
  users: Type.Array(UserBasic),
  groups: Type.Array(Group),
  contains_hidden_groups: Type.Boolean(),
  protected_branches: Type.Array(ProtectedBranch),
  applies_to_all_protected_branches: Type.Boolean(),
});
export type ApprovalRuleRecord = Static<typeof ApprovalRuleRecord>;

/** The same under the older addresses. */
export const SettingRuleRecord = Type.Object({
  ...ApprovalRuleRecord.properties,
  approvers: Type.Array(UserBasic),
});
export type SettingRuleRecord = Static<typeof SettingRuleRecord>;

export const SettingRules = Type.Object({
  rules: Type.Array(SettingRuleRecord),
  fallback_approvals_required: Type.Integer(),
});
