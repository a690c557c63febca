/** Rows → records, field by field: each shape adds to the one before it. */

import type { UserRow } from '../../../kernel/access/find-queries.ts';
import type { Caller } from '../../../kernel/actor.ts';
import type { Tier } from '../../../kernel/config.ts';
import type { CustomAttribute } from '../../../kernel/namespaces/custom-attributes.ts';
import { presentUserBasic, type Surroundings } from '../../../kernel/users/records.ts';
import type { ProfileRow } from './queries.ts';
import { localTime, workInformation } from './rules.ts';
import type { UserRecord } from './schema.ts';

const isoOrNull = (time: Date | null): string | null => time?.toISOString() ?? null;

/** The public record, with custom attributes when they were requested. */
export function presentListed(
  around: Surroundings,
  user: UserRow,
  attributes?: ReadonlyMap<number, CustomAttribute[]>,
): UserRecord {
  const { web_url, ...basic } = presentUserBasic(around, user);
  return {
    ...basic,
    ...(attributes && { custom_attributes: attributes.get(user.id) ?? [] }),
    web_url,
  };
}

/** GET /users/:id; a private profile omits its date of creation and its follows. */
export function presentProfile(
  around: Surroundings,
  user: ProfileRow,
  viewer: {
    caller: Caller;
    time: Date;
    tier: Tier;
    attributes?: ReadonlyMap<number, CustomAttribute[]> | undefined;
  },
): UserRecord {
  const { caller, time, attributes } = viewer;
  const open = !user.private_profile || caller?.admin === true || caller?.id === user.id;
  return {
    ...presentListed(around, user, attributes),
    ...(open && { created_at: user.created_at.toISOString() }),
    bio: user.bio,
    location: user.location,
    linkedin: user.linkedin,
    twitter: user.twitter,
    discord: user.discord,
    website_url: user.website_url,
    github: user.github,
    job_title: user.job_title,
    pronouns: user.pronouns,
    organization: user.organization,
    bot: user.kind.endsWith('_bot') || user.kind === 'service_account',
    work_information: workInformation(user),
    ...(open && { followers: user.followers, following: user.following }),
    ...(open && caller && { is_followed: user.is_followed }),
    local_time: localTime(user.timezone, time),
  };
}

/** GET /user, and an enterprise user for group owners. */
export function presentOwn(
  around: Surroundings,
  user: ProfileRow,
  viewer: Parameters<typeof presentProfile>[2],
): UserRecord {
  return {
    ...presentProfile(around, user, viewer),
    last_sign_in_at: isoOrNull(user.last_sign_in_at),
    confirmed_at: isoOrNull(user.confirmed_at),
    last_activity_on: user.last_activity_on,
    email: user.email,
    theme_id: user.theme_id,
    color_scheme_id: user.color_scheme_id,
    projects_limit: user.projects_limit,
    current_sign_in_at: isoOrNull(user.current_sign_in_at),
    identities: user.identities.map(({ provider, extern_uid }) => ({
      provider,
      extern_uid,
      saml_provider_id: null,
    })),
    can_create_group: user.can_create_group,
    can_create_project: user.projects_limit > user.personal_projects,
    two_factor_enabled: user.otp_enabled_at !== null,
    external: user.external,
    private_profile: user.private_profile,
    commit_email: user.commit_email ?? user.email,
    preferred_language: user.preferred_language,
    shared_runners_minutes_limit: null,
    extra_shared_runners_minutes_limit: null,
    scim_identities: [],
  };
}

/** A user for administrators. */
export function presentForAdmin(
  around: Surroundings,
  user: ProfileRow,
  viewer: Parameters<typeof presentProfile>[2],
): UserRecord {
  return {
    ...presentOwn(around, user, viewer),
    is_admin: user.admin,
    note: user.note,
    namespace_id: user.namespace_id,
    created_by: user.created_by && presentUserBasic(around, user.created_by),
    ...(viewer.tier !== 'free' && {
      using_license_seat: user.kind === 'human' && user.state === 'active',
      is_auditor: user.auditor,
      provisioned_by_group_id: user.provisioned_by_group_id,
      enterprise_group_id: user.enterprise_group_id,
      enterprise_group_associated_at: isoOrNull(user.enterprise_group_associated_at),
    }),
  };
}
