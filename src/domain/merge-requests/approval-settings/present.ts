/** Settings of approvals as records, and requests as settings. */
import type { SettingsInPlace } from './queries.ts';
import { type ApprovalSettings, effectiveSettings, type SettingState, settingState } from './rules.ts';
import type { Configuration, ConfigurationInput, SettingInput, SettingStates } from './schema.ts';

/** The settings without those that were not sent. */
const sent = (
  changes: { [Name in keyof ApprovalSettings]: boolean | undefined },
): Partial<ApprovalSettings> =>
  Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));

const inverse = (value: boolean | undefined) => (value === undefined ? undefined : !value);

/** The newer name of a setting wins. */
const reauthentication = (input: SettingInput) => ({
  require_reauthentication_to_approve:
    input.require_reauthentication_to_approve ?? input.require_password_to_approve,
});

export const settingsOf = (input: SettingInput): Partial<ApprovalSettings> =>
  sent({
    allow_author_approval: input.allow_author_approval,
    allow_committer_approval: input.allow_committer_approval,
    allow_overrides_to_approver_list_per_merge_request:
      input.allow_overrides_to_approver_list_per_merge_request,
    retain_approvals_on_push: input.retain_approvals_on_push,
    selective_code_owner_removals: input.selective_code_owner_removals,
    ...reauthentication(input),
  });

/** Settings that the configuration calls otherwise. */
export const configurationNames = {
  allow_author_approval: 'merge_requests_author_approval',
  allow_committer_approval: 'merge_requests_disable_committers_approval',
  allow_overrides_to_approver_list_per_merge_request: 'disable_overriding_approvers_per_merge_request',
  retain_approvals_on_push: 'reset_approvals_on_push',
};

export const configuredSettings = (input: ConfigurationInput): Partial<ApprovalSettings> =>
  sent({
    allow_author_approval: input.merge_requests_author_approval,
    allow_committer_approval: inverse(input.merge_requests_disable_committers_approval),
    allow_overrides_to_approver_list_per_merge_request: inverse(
      input.disable_overriding_approvers_per_merge_request,
    ),
    retain_approvals_on_push: inverse(input.reset_approvals_on_push),
    selective_code_owner_removals: input.selective_code_owner_removals,
    ...reauthentication(input),
  });

export function presentStates({ own, above }: SettingsInPlace): SettingStates {
  const values = effectiveSettings(own, above);
  const state = (name: keyof ApprovalSettings): SettingState => ({
    ...settingState(name, own, above),
    value: values[name],
  });
  const password = state('require_reauthentication_to_approve');
  return {
    allow_author_approval: state('allow_author_approval'),
    allow_committer_approval: state('allow_committer_approval'),
    allow_overrides_to_approver_list_per_merge_request: state(
      'allow_overrides_to_approver_list_per_merge_request',
    ),
    retain_approvals_on_push: state('retain_approvals_on_push'),
    selective_code_owner_removals: state('selective_code_owner_removals'),
    require_password_to_approve: password,
    require_reauthentication_to_approve: password,
  };
}

export function presentConfiguration(
  { own, above }: SettingsInPlace,
  approvals_before_merge: number,
): Configuration {
  const values = effectiveSettings(own, above);
  return {
    approvers: [],
    approver_groups: [],
    approval_groups: [],
    approvals_before_merge,
    reset_approvals_on_push: !values.retain_approvals_on_push,
    selective_code_owner_removals: values.selective_code_owner_removals,
    disable_overriding_approvers_per_merge_request:
      !values.allow_overrides_to_approver_list_per_merge_request,
    merge_requests_author_approval: values.allow_author_approval,
    merge_requests_disable_committers_approval: !values.allow_committer_approval,
    require_password_to_approve: values.require_reauthentication_to_approve,
    require_reauthentication_to_approve: values.require_reauthentication_to_approve,
  };
}
