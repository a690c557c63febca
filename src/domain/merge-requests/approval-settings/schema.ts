/** Settings of approvals in requests and responses (facts: merge requests §6.2; spec: Versioning, Deprecations). */
import Type, { type Static } from 'typebox';
import { deprecated, nullable, stringEnum } from '../../../platform/http/parameters/schema.ts';

const flag = (description: string) => Type.Optional(Type.Boolean({ description }));

const password = deprecated(Type.Boolean(), 'require_reauthentication_to_approve');
const reauthentication = {
  require_password_to_approve: Type.Optional(password),
  require_reauthentication_to_approve: flag('Who approves proves who they are, by their password.'),
};
const selective_code_owner_removals = flag(
  'A push removes the approvals of the owners of the files that it changed, and no others.',
);

/** The names of the settings by themselves. */
export const SettingInput = Type.Object({
  allow_author_approval: flag('Authors may approve their own merge requests.'),
  allow_committer_approval: flag('Who has commits in a merge request may approve it.'),
  allow_overrides_to_approver_list_per_merge_request: flag(
    "A merge request may have rules of its own in place of the project's.",
  ),
  retain_approvals_on_push: flag('A push leaves the approvals as they are.'),
  selective_code_owner_removals,
  ...reauthentication,
});
export type SettingInput = Static<typeof SettingInput>;

/** The names in the project's configuration, most of which say the opposite. */
export const ConfigurationInput = Type.Object({
  approvals_before_merge: Type.Optional(
    deprecated(Type.Integer({ minimum: 0, maximum: 100 }), 'approval rules'),
  ),
  reset_approvals_on_push: flag('A push that changes a merge request removes its approvals.'),
  selective_code_owner_removals,
  disable_overriding_approvers_per_merge_request: flag(
    "Merge requests have the project's rules, and none of their own.",
  ),
  merge_requests_author_approval: flag('Authors may approve their own merge requests.'),
  merge_requests_disable_committers_approval: flag(
    'Nobody approves a merge request that has commits of theirs.',
  ),
  ...reauthentication,
});
export type ConfigurationInput = Static<typeof ConfigurationInput>;

/** Always empty. */
const nobody = deprecated(Type.Array(Type.Object({})), 'the approval rules of the project');

export const Configuration = Type.Object({
  approvers: nobody,
  approver_groups: nobody,
  approval_groups: nobody,
  approvals_before_merge: deprecated(Type.Integer(), 'approval rules'),
  reset_approvals_on_push: Type.Boolean(),
  selective_code_owner_removals: Type.Boolean(),
  disable_overriding_approvers_per_merge_request: Type.Boolean(),
  merge_requests_author_approval: Type.Boolean(),
  merge_requests_disable_committers_approval: Type.Boolean(),
  require_password_to_approve: password,
  require_reauthentication_to_approve: Type.Boolean(),
});
export type Configuration = Static<typeof Configuration>;

const SettingState = Type.Object({
  value: Type.Boolean(),
  locked: Type.Boolean(),
  inherited_from: nullable(stringEnum(['instance', 'group'])),
});

export const SettingStates = Type.Object({
  allow_author_approval: SettingState,
  allow_committer_approval: SettingState,
  allow_overrides_to_approver_list_per_merge_request: SettingState,
  retain_approvals_on_push: SettingState,
  selective_code_owner_removals: SettingState,
  require_password_to_approve: deprecated(SettingState, 'require_reauthentication_to_approve'),
  require_reauthentication_to_approve: SettingState,
});
export type SettingStates = Static<typeof SettingStates>;
