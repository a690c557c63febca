/** Parameters and records of members, access requests and invitations. */
import Type, { type Static } from 'typebox';
import { memberLevels } from '../../../kernel/policy/roles.ts';
import { UserBasic } from '../../../kernel/users/records.ts';
import {
  atLeastOne,
  commaList,
  date,
  dateTime,
  exactlyOne,
  integerId,
  nullable,
  parameterRules,
  stringEnum,
} from '../../../platform/http/parameters/schema.ts';

import { MemberRole } from '../member-roles/schema.ts';

/** The most users that one request may name. */
const MAX_PEOPLE = 100;

export const accessLevel = () => Type.Unsafe<number>({ type: 'integer', enum: [...memberLevels] });
const memberRoleId = () =>
  Type.Optional(
    nullable(
      integerId({ description: 'A custom role, whose base is the access level; null takes it away.' }),
    ),
  );
const expiresAt = () => Type.Optional(nullable(date({ description: 'The first day without access.' })));

export const Member = Type.Object({
  ...UserBasic.properties,
  access_level: Type.Integer(),
  created_at: dateTime(),
  created_by: Type.Optional(UserBasic),
  expires_at: nullable(date()),
  email: Type.Optional(
    Type.String({ description: 'For administrators, and for owners of the enterprise group of the user.' }),
  ),
  is_using_seat: Type.Optional(Type.Boolean()),
  membership_state: Type.String(),
  member_role: Type.Optional(nullable(MemberRole)),
});
export type Member = Static<typeof Member>;

/** A membership that waits for access; `id` is its own. */
export const PendingMember = Type.Object({
  ...UserBasic.properties,
  user_id: Type.Integer(),
  approved: Type.Boolean(),
  invited: Type.Boolean(),
});

export const AccessRequester = Type.Object({ ...UserBasic.properties, requested_at: dateTime() });
export type AccessRequester = Static<typeof AccessRequester>;

/** The new member, with the time of the request. */
export const ApprovedRequester = Type.Object({ ...Member.properties, requested_at: dateTime() });

export const Invitation = Type.Object({
  access_level: Type.Integer(),
  created_at: nullable(dateTime()),
  expires_at: nullable(dateTime()),
  invite_email: Type.String(),
  invite_token: Type.Optional(Type.String({ description: 'For administrators.' })),
  user_name: nullable(Type.String()),
  created_by_name: nullable(Type.String()),
});
export type Invitation = Static<typeof Invitation>;

/** The outcome for several users: each one who was left out, by the name or address in the request, and the reason. */
export const Outcome = Type.Object({
  status: stringEnum(['success', 'error']),
  message: Type.Optional(Type.Record(Type.String(), Type.String())),
});
export type Outcome = Static<typeof Outcome>;

export const ImportOutcome = Type.Object({
  ...Outcome.properties,
  total_members_count: Type.Optional(Type.Integer()),
});

export const memberFilters = {
  query: Type.Optional(Type.String({ maxLength: 255, description: 'Part of a name or username.' })),
  user_ids: Type.Optional(commaList(Type.Integer(), { maxItems: 1_000 })),
  skip_users: Type.Optional(commaList(Type.Integer(), { maxItems: 1_000 })),
  show_seat_info: Type.Optional(Type.Boolean()),
};
/** Both kinds are listed unless one is asked for. */
export const memberState = Type.Optional(stringEnum(['awaiting', 'active']));

export const NewMembers = Type.Object(
  {
    access_level: accessLevel(),
    user_id: Type.Optional(commaList(integerId(), { minItems: 1, maxItems: MAX_PEOPLE })),
    username: Type.Optional(commaList(Type.String(), { minItems: 1, maxItems: MAX_PEOPLE })),
    expires_at: expiresAt(),
    member_role_id: memberRoleId(),
  },
  parameterRules(exactlyOne('user_id', 'username')),
);

export const ChangedMember = Type.Object({
  user_id: Type.Integer(),
  access_level: accessLevel(),
  expires_at: expiresAt(),
  member_role_id: memberRoleId(),
});

export const NewInvitations = Type.Object(
  {
    access_level: accessLevel(),
    email: Type.Optional(commaList(Type.String(), { minItems: 1, maxItems: MAX_PEOPLE })),
    user_id: Type.Optional(commaList(integerId(), { minItems: 1, maxItems: MAX_PEOPLE })),
    expires_at: expiresAt(),
    member_role_id: memberRoleId(),
  },
  parameterRules(atLeastOne(['email', 'user_id'])),
);

export const ChangedInvitation = Type.Object({
  email: Type.String(),
  access_level: Type.Optional(accessLevel()),
  expires_at: expiresAt(),
  member_role_id: memberRoleId(),
});
