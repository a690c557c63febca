/** Records of users: public, profile, own, and administrator's (facts: Resource entities). */
import Type, { type Static } from 'typebox';
import { CustomAttribute } from '../../../kernel/namespaces/custom-attributes.ts';
import { UserBasic } from '../../../kernel/users/records.ts';
import { deprecated, nullable } from '../../../platform/http/parameters/schema.ts';

const { web_url, ...basic } = UserBasic.properties;

/** Optional, because only some callers get them: one schema fits all lists. */
const Text = Type.Optional(Type.String());
const TextOrNull = Type.Optional(nullable(Type.String()));
const Count = Type.Optional(Type.Integer());
const CountOrNull = Type.Optional(nullable(Type.Integer()));
const Flag = Type.Optional(Type.Boolean());

export const UserRecord = Type.Object({
  ...basic,
  custom_attributes: Type.Optional(Type.Array(CustomAttribute)),
  web_url,
  // The profile
  created_at: Text,
  bio: Text,
  location: TextOrNull,
  linkedin: Text,
  twitter: Text,
  discord: Text,
  website_url: Text,
  github: Text,
  job_title: Text,
  pronouns: TextOrNull,
  organization: TextOrNull,
  bot: Flag,
  work_information: TextOrNull,
  followers: Count,
  following: Count,
  is_followed: Flag,
  local_time: TextOrNull,
  // One's own
  last_sign_in_at: TextOrNull,
  confirmed_at: TextOrNull,
  last_activity_on: TextOrNull,
  email: Text,
  theme_id: CountOrNull,
  color_scheme_id: Count,
  projects_limit: Count,
  current_sign_in_at: TextOrNull,
  identities: Type.Optional(
    Type.Array(
      Type.Object({
        provider: Type.String(),
        extern_uid: Type.String(),
        saml_provider_id: nullable(Type.Integer()),
      }),
    ),
  ),
  can_create_group: Flag,
  can_create_project: Flag,
  two_factor_enabled: Flag,
  external: Flag,
  private_profile: Flag,
  commit_email: Text,
  preferred_language: Text,
  shared_runners_minutes_limit: CountOrNull,
  extra_shared_runners_minutes_limit: CountOrNull,
  scim_identities: Type.Optional(Type.Array(Type.Object({}))),
  // The administrator's
  is_admin: Flag,
  note: TextOrNull,
  namespace_id: CountOrNull,
  created_by: Type.Optional(nullable(UserBasic)),
  using_license_seat: Flag,
  is_auditor: Flag,
  provisioned_by_group_id: CountOrNull,
  enterprise_group_id: CountOrNull,
  enterprise_group_associated_at: TextOrNull,
});
export type UserRecord = Static<typeof UserRecord>;

export const Membership = Type.Object({
  source_id: Type.Integer(),
  source_name: Type.String(),
  source_type: Type.String(),
  access_level: Type.Integer(),
});

export const AssociationsCount = Type.Object({
  groups_count: Type.Integer(),
  projects_count: Type.Integer(),
  issues_count: Type.Integer(),
  merge_requests_count: Type.Integer(),
});

export const UserActivity = Type.Object({
  username: Type.String(),
  last_activity_on: Type.String(),
  last_activity_at: deprecated(Type.String(), 'last_activity_on'),
});
