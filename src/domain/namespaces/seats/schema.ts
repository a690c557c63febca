/** Members who take a seat, in requests and responses (facts: Group operations). */
import Type, { type Static } from 'typebox';
import { UserBasic } from '../../../kernel/users/records.ts';
import { date, dateTime, integerId, nullable, stringEnum } from '../../../platform/http/parameters/schema.ts';

export const seatSorts = [
  'access_level_asc',
  'access_level_desc',
  'last_joined',
  'oldest_joined',
  'name_asc',
  'name_desc',
  'oldest_sign_in',
  'recent_sign_in',
  'last_activity_on_asc',
  'last_activity_on_desc',
] as const;
export type SeatSort = (typeof seatSorts)[number];

export const SeatList = Type.Object({
  search: Type.Optional(Type.String({ maxLength: 255, description: 'Part of a name or username.' })),
  sort: Type.Optional(stringEnum(seatSorts)),
});

export const membershipTypes = ['group_member', 'project_member', 'group_invite', 'project_invite'] as const;

export const BillableMember = Type.Object({
  ...UserBasic.properties,
  email: Type.Optional(Type.String({ description: 'For administrators.' })),
  last_activity_on: nullable(date()),
  last_login_at: nullable(dateTime()),
  created_at: dateTime(),
  access_level: Type.Integer(),
  membership_type: stringEnum(membershipTypes),
  membership_state: Type.String(),
  removable: Type.Boolean({ description: 'Not of members by a share alone, and of the last owner.' }),
  is_last_owner: Type.Boolean(),
});
export type BillableMember = Static<typeof BillableMember>;

export const OneBillableMember = Type.Object({ user_id: integerId() });

export const BillableMembership = Type.Object({
  id: Type.Integer(),
  source_id: Type.Integer(),
  source_full_name: Type.String(),
  source_members_url: Type.String(),
  created_at: dateTime(),
  expires_at: nullable(date()),
  access_level: Type.Object({
    string_value: Type.String(),
    integer_value: Type.Integer(),
    custom_role: Type.Null(),
  }),
});
export type BillableMembership = Static<typeof BillableMembership>;
