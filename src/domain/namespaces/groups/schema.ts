/** Fields for creating and changing a group, the filters of its lists, and its detailed record. */
import Type, { type Static } from 'typebox';
import { avatarFile } from '../../../kernel/files/pictures.ts';
import { Group } from '../../../kernel/namespaces/group-records.ts';
import { GroupSettingsSchema } from '../../../kernel/namespaces/group-settings.ts';
import { PackageSettings } from '../../../kernel/namespaces/package-settings.ts';
import { pathPattern } from '../../../kernel/namespaces/paths.ts';
import { FullProject } from '../../../kernel/namespaces/project-records.ts';
import { BranchProtectionChanges, branchProtectionLevels } from '../../../kernel/policy/branch-protection.ts';
import { assignableLevels, visibilityNames } from '../../../kernel/policy/roles.ts';
import {
  commaList,
  date,
  deprecated,
  nullable,
  stringEnum,
} from '../../../platform/http/parameters/schema.ts';
import { namePattern } from './rules.ts';

const flag = (description: string) => Type.Optional(Type.Boolean({ description }));

const settings = Type.Partial(GroupSettingsSchema).properties;

const changeFields = {
  description: Type.Optional(nullable(Type.String({ maxLength: 500 }))),
  visibility: Type.Optional(stringEnum(visibilityNames)),
  avatar: Type.Optional(avatarFile),
  ...settings,
  emails_disabled: Type.Optional(deprecated(Type.Boolean(), 'emails_enabled')),
  default_branch_protection: Type.Optional(
    deprecated(
      Type.Unsafe<(typeof branchProtectionLevels)[number]>({
        type: 'integer',
        enum: [...branchProtectionLevels],
      }),
      'default_branch_protection_defaults',
    ),
  ),
  default_branch_protection_defaults: Type.Optional(BranchProtectionChanges),
};

const Name = Type.String({ maxLength: 255, ruled: { pattern: namePattern }, description: 'The name shown.' });
const Path = Type.String({
  ruled: { pattern: pathPattern, maxLength: 255 },
  description: 'The last part of its path.',
});

export const CreateGroup = Type.Object({
  name: Name,
  path: Path,
  parent_id: Type.Optional(nullable(Type.Integer({ description: 'The group that it goes into.' }))),
  ...changeFields,
});
export type CreateGroup = Static<typeof CreateGroup>;

export const UpdateGroup = Type.Object({
  name: Type.Optional(Name),
  path: Type.Optional(Path),
  ...changeFields,
});
export type UpdateGroup = Static<typeof UpdateGroup>;

const minAccessLevel = Type.Optional(
  Type.Unsafe<number>({
    type: 'integer',
    enum: [...assignableLevels],
    description: 'Least role of the caller.',
  }),
);
const search = Type.Optional(Type.String({ maxLength: 1_000, description: 'Part of the name or path.' }));

export const customAttributeFields = {
  with_custom_attributes: flag('With custom attributes, for administrators.'),
  custom_attributes: Type.Optional(
    Type.Record(Type.String(), Type.String(), { description: 'With these values, for administrators.' }),
  ),
};

/** Filters that even the lists of groups invited to one another take. */
export const InvitedFilters = Type.Object({
  search,
  min_access_level: minAccessLevel,
  ...customAttributeFields,
});

export const SharedFilters = Type.Object({
  ...InvitedFilters.properties,
  skip_groups: Type.Optional(
    commaList(Type.Integer(), { maxItems: 1_000, description: 'Ids of groups to leave out.' }),
  ),
  visibility: Type.Optional(stringEnum(visibilityNames)),
  order_by: Type.Optional(
    stringEnum(['name', 'path', 'id', 'similarity'], { description: 'Column to order by.' }),
  ),
  sort: Type.Optional(stringEnum(['asc', 'desc'])),
});

export const GroupFilters = Type.Object({
  ...SharedFilters.properties,
  statistics: flag('With statistics, for administrators.'),
  all_available: flag(
    'All that the caller sees; the default of administrators. Else those that the caller is in.',
  ),
  owned: flag('Only groups that the caller owns.'),
  top_level_only: flag('Only groups without a parent.'),
  marked_for_deletion_on: Type.Optional(date()),
  archived: flag('Only archived groups, or only others.'),
  active: flag('Only groups neither archived nor marked for deletion, or only others.'),
});
export type GroupFilters = Static<typeof GroupFilters>;

/** The detailed record; without the fields that this caller, tier or request does not get. */
export const GroupDetail = Type.Object({
  ...Group.properties,
  shared_with_groups: Type.Array(
    Type.Object({
      group_id: Type.Integer(),
      group_name: Type.String(),
      group_full_path: Type.String(),
      group_access_level: Type.Integer(),
      expires_at: nullable(Type.String()),
    }),
  ),
  enabled_git_access_protocol: GroupSettingsSchema.properties.enabled_git_access_protocol,
  prevent_sharing_groups_outside_hierarchy: settings.prevent_sharing_groups_outside_hierarchy,
  projects: Type.Optional(Type.Array(FullProject)),
  shared_projects: Type.Optional(Type.Array(FullProject)),
  membership_lock: settings.membership_lock,
  only_allow_merge_if_pipeline_succeeds: settings.only_allow_merge_if_pipeline_succeeds,
  allow_merge_on_skipped_pipeline: settings.allow_merge_on_skipped_pipeline,
  only_allow_merge_if_all_discussions_are_resolved: settings.only_allow_merge_if_all_discussions_are_resolved,
  ...Type.Partial(PackageSettings).properties,
});
export type GroupDetail = Static<typeof GroupDetail>;

export const ShareGroup = Type.Object({
  group_id: Type.Integer({ description: 'The group that is invited.' }),
  group_access: Type.Unsafe<number>({
    type: 'integer',
    enum: [...assignableLevels],
    description: 'The most that its members may.',
  }),
  expires_at: Type.Optional(nullable(date({ description: 'The day on which it ends.' }))),
});
export type ShareGroup = Static<typeof ShareGroup>;
