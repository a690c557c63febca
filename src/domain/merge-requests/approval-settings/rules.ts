/** Settings of approvals: what holds for a project of what it, its top-level group and the instance say (facts: merge requests §6.2). Pure. */
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';

/** The value of each setting that is the stricter one. */
const strict = {
  allow_author_approval: false,
  allow_committer_approval: false,
  allow_overrides_to_approver_list_per_merge_request: false,
  retain_approvals_on_push: false,
  selective_code_owner_removals: true,
  require_reauthentication_to_approve: true,
} as const;

export type ApprovalSettingName = keyof typeof strict;
export type ApprovalSettings = { readonly [Name in ApprovalSettingName]: boolean };

export const settingNames = Object.keys(strict) as ApprovalSettingName[];

/** Of a project that never said otherwise. */
export const projectDefaults: ApprovalSettings = {
  allow_author_approval: false,
  allow_committer_approval: true,
  allow_overrides_to_approver_list_per_merge_request: true,
  retain_approvals_on_push: false,
  selective_code_owner_removals: false,
  require_reauthentication_to_approve: false,
};

const recordOf = (value: (name: ApprovalSettingName) => boolean): ApprovalSettings => ({
  allow_author_approval: value('allow_author_approval'),
  allow_committer_approval: value('allow_committer_approval'),
  allow_overrides_to_approver_list_per_merge_request: value(
    'allow_overrides_to_approver_list_per_merge_request',
  ),
  retain_approvals_on_push: value('retain_approvals_on_push'),
  selective_code_owner_removals: value('selective_code_owner_removals'),
  require_reauthentication_to_approve: value('require_reauthentication_to_approve'),
});

/** Of a group that never said otherwise: its projects decide. */
export const groupDefaults: ApprovalSettings = recordOf((name) => !strict[name]);

export type InstanceLocks = Pick<
  ApplicationSettings,
  | 'prevent_merge_requests_author_approval'
  | 'prevent_merge_requests_committers_approval'
  | 'disable_overriding_approvers_per_merge_request'
>;

export const instanceSettings = (locks: InstanceLocks): ApprovalSettings => ({
  ...groupDefaults,
  allow_author_approval: !locks.prevent_merge_requests_author_approval,
  allow_committer_approval: !locks.prevent_merge_requests_committers_approval,
  allow_overrides_to_approver_list_per_merge_request: !locks.disable_overriding_approvers_per_merge_request,
});

/** What stands above a project or group, outermost first. */
export type Layer = { from: 'instance' | 'group'; settings: ApprovalSettings };

export type SettingState = { value: boolean; locked: boolean; inherited_from: Layer['from'] | null };

/** The setting as it holds: where a layer above has the stricter value, that is it, and nobody below may change it. */
export function settingState(
  name: ApprovalSettingName,
  own: ApprovalSettings,
  above: readonly Layer[],
): SettingState {
  const lock = above.find(({ settings }) => settings[name] === strict[name]);
  if (lock) return { value: strict[name], locked: true, inherited_from: lock.from };
  return { value: own[name], locked: false, inherited_from: null };
}

/** All settings as they hold. Where pushes remove every approval, none is left to be removed selectively. */
export function effectiveSettings(own: ApprovalSettings, above: readonly Layer[]): ApprovalSettings {
  const all = recordOf((name) => settingState(name, own, above).value);
  return {
    ...all,
    selective_code_owner_removals: all.selective_code_owner_removals && all.retain_approvals_on_push,
  };
}

type SettingProblems = { [Name in ApprovalSettingName]?: string[] };

/** Messages for changes that a layer above forbids, or that contradict each other; empty where there are none. */
export function settingProblems(
  own: ApprovalSettings,
  changes: Partial<ApprovalSettings>,
  above: readonly Layer[],
): SettingProblems {
  const problems: SettingProblems = {};
  for (const name of settingNames) {
    const { locked, inherited_from } = settingState(name, own, above);
    if (locked && changes[name] === !strict[name]) problems[name] = [`is locked by the ${inherited_from}`];
  }
  const after = { ...own, ...changes };
  const asked = changes.selective_code_owner_removals ?? changes.retain_approvals_on_push;
  if (asked !== undefined && after.selective_code_owner_removals && !after.retain_approvals_on_push)
    problems.selective_code_owner_removals = ['can only be enabled when retain_approvals_on_push is enabled'];
  return problems;
}
