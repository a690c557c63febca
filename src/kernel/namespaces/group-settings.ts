/** Group settings: one table of schemas with their defaults, stored as jsonb, and lookups in ancestors. */
import Type, { type Static } from 'typebox';
import { nullable, stringEnum } from '../../platform/http/parameters/schema.ts';
import { BranchProtection } from '../policy/branch-protection.ts';
import { projectCreationLevels } from '../policy/project-creation.ts';
import { MAX_LIMIT } from '../repository-size/rules.ts';
import { defaultPackageSettings, PackageSettings } from './package-settings.ts';

export const subgroupCreationLevels = ['owner', 'maintainer'] as const;
export type SubgroupCreationLevel = (typeof subgroupCreationLevels)[number];

const flag = (description: string) => Type.Boolean({ description });

export const GroupSettingsSchema = Type.Object({
  share_with_group_lock: flag('Projects below cannot be shared with groups.'),
  require_two_factor_authentication: flag('Members must set up two-factor authentication.'),
  two_factor_grace_period: Type.Integer({
    minimum: 0,
    maximum: 100_000,
    description: 'Hours until required two-factor authentication must be set up.',
  }),
  project_creation_level: stringEnum(projectCreationLevels, { description: 'Who may create projects.' }),
  auto_devops_enabled: nullable(Type.Boolean({ description: 'For the projects below.' })),
  subgroup_creation_level: stringEnum(subgroupCreationLevels, { description: 'Who may create subgroups.' }),
  emails_enabled: flag('Whether the group sends mail.'),
  show_diff_preview_in_email: flag('Mails show what changed.'),
  mentions_disabled: nullable(Type.Boolean({ description: 'The group cannot be mentioned.' })),
  lfs_enabled: flag('Large file storage for the projects below.'),
  math_rendering_limits_enabled: flag('Rendering of formulas is limited.'),
  lock_math_rendering_limits_enabled: flag('Groups below cannot change that limit.'),
  default_branch: nullable(
    Type.String({
      maxLength: 255,
      description: 'Of new repositories; null for the default of the instance.',
    }),
  ),
  default_branch_protection_defaults: nullable(BranchProtection),
  request_access_enabled: flag('Users may ask for access.'),
  shared_runners_setting: stringEnum(['enabled', 'disabled_and_overridable', 'disabled_and_unoverridable'], {
    description: 'Whether runners of the instance build the projects below.',
  }),
  max_artifacts_size: nullable(
    Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: 'In megabytes; set by administrators.' }),
  ),
  repository_size_limit: nullable(
    Type.Integer({
      minimum: 0,
      maximum: MAX_LIMIT,
      description:
        'Largest repository of a project below with its large files, in MiB; 0 for no limit, null for that of the group above or the instance. Set by administrators.',
    }),
  ),
  wiki_access_level: stringEnum(['disabled', 'private', 'enabled'], {
    description: 'Who uses the wiki of the group.',
  }),
  enabled_git_access_protocol: nullable(
    stringEnum(['ssh', 'http', 'all'], { description: 'How repositories are reached.' }),
  ),
  prevent_sharing_groups_outside_hierarchy: flag(
    'The group and those below are only shared with groups of the same tree; of top-level groups.',
  ),
  membership_lock: flag('Projects below take no new members.'),
  disable_password_authentication_for_enterprise_users: flag(
    'Enterprise users of the group cannot sign in with a password; of top-level groups.',
  ),
  only_allow_merge_if_pipeline_succeeds: flag('For the projects below.'),
  allow_merge_on_skipped_pipeline: flag('For the projects below.'),
  only_allow_merge_if_all_discussions_are_resolved: flag('For the projects below.'),
  ...PackageSettings.properties,
});

export type GroupSettings = Static<typeof GroupSettingsSchema>;

/** Defaults of the settings. Apart from the schemas: in a request, absent means unchanged. */
export const defaultGroupSettings: GroupSettings = {
  share_with_group_lock: false,
  require_two_factor_authentication: false,
  two_factor_grace_period: 48,
  project_creation_level: 'developer',
  auto_devops_enabled: null,
  subgroup_creation_level: 'maintainer',
  emails_enabled: true,
  show_diff_preview_in_email: true,
  mentions_disabled: null,
  lfs_enabled: true,
  math_rendering_limits_enabled: true,
  lock_math_rendering_limits_enabled: false,
  default_branch: null,
  default_branch_protection_defaults: null,
  request_access_enabled: true,
  shared_runners_setting: 'enabled',
  max_artifacts_size: null,
  repository_size_limit: null,
  wiki_access_level: 'enabled',
  enabled_git_access_protocol: null,
  prevent_sharing_groups_outside_hierarchy: false,
  membership_lock: false,
  disable_password_authentication_for_enterprise_users: false,
  only_allow_merge_if_pipeline_succeeds: false,
  allow_merge_on_skipped_pipeline: false,
  only_allow_merge_if_all_discussions_are_resolved: false,
  ...defaultPackageSettings,
};

/** Settings that exist from the Premium tier on. */
export const premiumGroupSettings: readonly (keyof GroupSettings)[] = [
  'repository_size_limit',
  'wiki_access_level',
  'membership_lock',
  'only_allow_merge_if_pipeline_succeeds',
  'allow_merge_on_skipped_pipeline',
  'only_allow_merge_if_all_discussions_are_resolved',
];

/** The settings of a stored group, defaults filled in. */
export const groupSettings = (row: { settings: unknown }): GroupSettings => ({
  ...defaultGroupSettings,
  // Only update and create write the column, from values of this type.
  ...(row.settings as Partial<GroupSettings>),
});
