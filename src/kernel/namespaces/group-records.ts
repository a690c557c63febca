/** Group records: basic, public and listed (facts: Resource entities). */
import Type, { type Static } from 'typebox';
import { deprecated, nullable } from '../../platform/http/parameters/schema.ts';
import type { Tier } from '../config.ts';
import { BranchProtection, branchProtectionLevel } from '../policy/branch-protection.ts';
import { visibilityName } from '../policy/roles.ts';
import { presentSizeLimit, ShownSizeLimit } from '../repository-size/records.ts';
import type { ApplicationSettings } from '../settings/definitions.ts';
import { uploadUrl } from '../users/records.ts';
import { CustomAttribute } from './custom-attributes.ts';
import { GroupSettingsSchema, groupSettings } from './group-settings.ts';
import { type ProjectSizes, presentSizes } from './project-records.ts';
import { groupWebUrl } from './records.ts';
import type { GroupRow } from './rows.ts';

export const BasicGroupDetails = Type.Object({
  id: Type.Integer(),
  web_url: Type.String(),
  name: Type.String(),
});
export type BasicGroupDetails = Static<typeof BasicGroupDetails>;

export const PublicGroupDetails = Type.Object({
  ...BasicGroupDetails.properties,
  avatar_url: nullable(Type.String()),
  full_name: Type.String(),
  full_path: Type.String(),
});
export type PublicGroupDetails = Static<typeof PublicGroupDetails>;

export const GroupStatistics = Type.Object({
  storage_size: Type.Integer(),
  repository_size: Type.Integer(),
  wiki_size: Type.Integer(),
  lfs_objects_size: Type.Integer(),
  job_artifacts_size: Type.Integer(),
  pipeline_artifacts_size: Type.Integer(),
  packages_size: Type.Integer(),
  snippets_size: Type.Integer(),
  uploads_size: Type.Integer(),
});

const setting = GroupSettingsSchema.properties;

export const Group = Type.Object({
  ...BasicGroupDetails.properties,
  path: Type.String(),
  description: Type.String(),
  visibility: Type.String(),
  share_with_group_lock: setting.share_with_group_lock,
  require_two_factor_authentication: setting.require_two_factor_authentication,
  two_factor_grace_period: setting.two_factor_grace_period,
  project_creation_level: setting.project_creation_level,
  auto_devops_enabled: setting.auto_devops_enabled,
  subgroup_creation_level: setting.subgroup_creation_level,
  emails_disabled: Type.Boolean(),
  emails_enabled: setting.emails_enabled,
  show_diff_preview_in_email: setting.show_diff_preview_in_email,
  mentions_disabled: setting.mentions_disabled,
  lfs_enabled: setting.lfs_enabled,
  archived: Type.Boolean(),
  math_rendering_limits_enabled: setting.math_rendering_limits_enabled,
  lock_math_rendering_limits_enabled: setting.lock_math_rendering_limits_enabled,
  default_branch: setting.default_branch,
  default_branch_protection: deprecated(Type.Integer(), 'default_branch_protection_defaults'),
  default_branch_protection_defaults: BranchProtection,
  avatar_url: nullable(Type.String()),
  request_access_enabled: setting.request_access_enabled,
  full_name: Type.String(),
  full_path: Type.String(),
  created_at: Type.String(),
  parent_id: nullable(Type.Integer()),
  organization_id: Type.Integer(),
  shared_runners_setting: setting.shared_runners_setting,
  max_artifacts_size: setting.max_artifacts_size,
  custom_attributes: Type.Optional(Type.Array(CustomAttribute)),
  statistics: Type.Optional(GroupStatistics),
  marked_for_deletion_on: nullable(Type.String()),
  wiki_access_level: Type.Optional(setting.wiki_access_level),
  repository_size_limit: Type.Optional(ShownSizeLimit),
  repository_storage: Type.Optional(Type.String()),
});
export type Group = Static<typeof Group>;

/** Inputs of a group's record beside its row. */
export type GroupView = {
  baseUrl: string;
  settings: ApplicationSettings;
  tier: Tier;
  admin: boolean;
};

export type GroupRelations = {
  customAttributes?: CustomAttribute[] | undefined;
  /** Of all projects right in it. */
  sizes?: ProjectSizes | undefined;
  /** The storage of its wiki, for administrators; undefined without a wiki. */
  wikiStorage?: string | undefined;
};

function presentGroupSizes(sizes: ProjectSizes): Static<typeof GroupStatistics> {
  const { commit_count: _, container_registry_size: __, ...shown } = presentSizes(sizes);
  return shown;
}

type GroupSummary = Pick<GroupRow, 'id' | 'name' | 'full_name' | 'full_path' | 'avatar'>;

const groupAvatarUrl = (
  view: Pick<GroupView, 'baseUrl' | 'settings'>,
  row: Pick<GroupRow, 'id' | 'avatar'>,
): string | null => uploadUrl(view, 'group', row.id, row.avatar) ?? null;

export const presentBasicGroup = (
  view: Pick<GroupView, 'baseUrl'>,
  row: Pick<GroupRow, 'id' | 'name' | 'full_path'>,
): BasicGroupDetails => ({ id: row.id, web_url: groupWebUrl(view, row.full_path), name: row.name });

/** The record that only identifies the group. */
export const presentPublicGroup = (
  view: Pick<GroupView, 'baseUrl' | 'settings'>,
  row: GroupSummary,
): PublicGroupDetails => ({
  ...presentBasicGroup(view, row),
  avatar_url: groupAvatarUrl(view, row),
  full_name: row.full_name,
  full_path: row.full_path,
});

/** The only organization. */
export const ORGANIZATION_ID = 1;

/** The record of lists and of responses to writes. */
export function presentGroup(view: GroupView, row: GroupRow, relations: GroupRelations = {}): Group {
  const settings = groupSettings(row);
  const protection =
    settings.default_branch_protection_defaults ?? view.settings.default_branch_protection_defaults;
  return {
    ...presentBasicGroup(view, row),
    path: row.path,
    description: row.description,
    visibility: visibilityName(row.visibility),
    share_with_group_lock: settings.share_with_group_lock,
    require_two_factor_authentication: settings.require_two_factor_authentication,
    two_factor_grace_period: settings.two_factor_grace_period,
    project_creation_level: settings.project_creation_level,
    auto_devops_enabled: settings.auto_devops_enabled,
    subgroup_creation_level: settings.subgroup_creation_level,
    emails_disabled: !settings.emails_enabled,
    emails_enabled: settings.emails_enabled,
    show_diff_preview_in_email: settings.show_diff_preview_in_email,
    mentions_disabled: settings.mentions_disabled,
    lfs_enabled: settings.lfs_enabled,
    archived: row.archived,
    math_rendering_limits_enabled: settings.math_rendering_limits_enabled,
    lock_math_rendering_limits_enabled: settings.lock_math_rendering_limits_enabled,
    default_branch: settings.default_branch,
    default_branch_protection: branchProtectionLevel(protection),
    default_branch_protection_defaults: protection,
    avatar_url: groupAvatarUrl(view, row),
    request_access_enabled: settings.request_access_enabled,
    full_name: row.full_name,
    full_path: row.full_path,
    created_at: row.created_at.toISOString(),
    parent_id: row.parent_id,
    organization_id: ORGANIZATION_ID,
    shared_runners_setting: settings.shared_runners_setting,
    max_artifacts_size: settings.max_artifacts_size,
    ...(relations.customAttributes && { custom_attributes: relations.customAttributes }),
    ...(relations.sizes && { statistics: presentGroupSizes(relations.sizes) }),
    marked_for_deletion_on: row.marked_for_deletion_on,
    ...(view.tier !== 'free' && { wiki_access_level: settings.wiki_access_level }),
    ...(view.tier !== 'free' && view.admin && presentSizeLimit(settings)),
    ...(relations.wikiStorage !== undefined && { repository_storage: relations.wikiStorage }),
  };
}
