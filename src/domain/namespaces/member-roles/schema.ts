/** Custom roles of members in requests and responses (facts: Resource entities). */
import Type, { type Static } from 'typebox';
import { type CustomAbility, customAbilityNames } from '../../../kernel/policy/custom-abilities.ts';
import { assignableLevels } from '../../../kernel/policy/roles.ts';
import { integerId, notBlank, nullable } from '../../../platform/http/parameters/schema.ts';

/** Abilities of the public API that nothing here stands behind: false in records, and refused by name. */
const unsupported = [
  'admin_compliance_framework',
  'admin_merge_request',
  'admin_protected_branch',
  'admin_runners',
  'admin_security_attributes',
  'admin_security_testing',
  'admin_vulnerability',
  'apply_security_scan_profiles',
  'manage_merge_request_settings',
  'manage_protected_tags',
  'manage_security_policy_link',
  'read_admin_cicd',
  'read_admin_groups',
  'read_admin_monitoring',
  'read_admin_projects',
  'read_admin_subscription',
  'read_admin_users',
  'read_compliance_dashboard',
  'read_crm_contact',
  'read_dependency',
  'read_runners',
  'read_security_attribute',
  'read_security_scan_profiles',
  'read_vulnerability',
  'remove_group',
] as const;

export const publicNames = [...customAbilityNames, ...unsupported] as const;
export type PublicAbility = CustomAbility | (typeof unsupported)[number];

const flags = <T>(of: () => T) =>
  Object.fromEntries(publicNames.map((name) => [name, of()])) as Record<PublicAbility, T>;

const refused = Type.Optional(
  Type.Boolean({
    ruled: { enum: [false] },
    description: 'Refused when true: nothing here stands behind it.',
  }),
);

export const NewMemberRole = Type.Object({
  name: Type.String({ maxLength: 255, ...notBlank, description: 'What the role is called.' }),
  description: Type.Optional(nullable(Type.String({ maxLength: 1_000 }))),
  base_access_level: Type.Unsafe<number>({
    type: 'integer',
    enum: [...assignableLevels],
    description: 'The role to which it adds.',
  }),
  ...flags(() => Type.Optional(Type.Boolean())),
  ...Object.fromEntries(unsupported.map((name) => [name, refused])),
});
export type NewMemberRole = Static<typeof NewMemberRole>;

export const OneMemberRole = Type.Object({ member_role_id: integerId() });

export const MemberRole = Type.Object({
  id: Type.Integer(),
  group_id: nullable(Type.Integer()),
  name: Type.String(),
  description: nullable(Type.String()),
  base_access_level: Type.Integer(),
  ...flags(() => Type.Boolean()),
});
export type MemberRole = Static<typeof MemberRole>;
