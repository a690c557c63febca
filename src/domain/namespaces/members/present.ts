/** Rows → wire records of members, requests and invitations; related records are loaded once for a page. */

import type { Caller } from '../../../kernel/actor.ts';
import { type Context, found } from '../../../kernel/api/endpoint.ts';
import { OWNER } from '../../../kernel/policy/roles.ts';
import { presentUserBasic, type Surroundings, type UserBasicRow } from '../../../kernel/users/records.ts';
import type { Db } from '../../../platform/db/database.ts';
import { unseal } from '../../../platform/secret.ts';
import { presentMemberRole } from '../member-roles/present.ts';
import type { InvitationRow } from './invitation-queries.ts';
import {
  type Membership,
  type MemberUser,
  type Reach,
  selectMember,
  selectMemberships,
  selectSeated,
} from './queries.ts';
import type { AccessRequester, Invitation, Member } from './schema.ts';
import type { Source } from './source.ts';

/** The caller and the source, and the context of the records. */
export type View = Surroundings & {
  source: Source;
  caller: Caller;
  tier: 'free' | 'premium' | 'ultimate';
  secretKey: string;
};

export const viewOf = (
  { services, settings, actor }: Pick<Context<unknown, unknown, Caller>, 'services' | 'settings' | 'actor'>,
  source: Source,
): View => ({
  baseUrl: services.baseUrl(),
  settings,
  source,
  caller: actor,
  tier: services.config.tier,
  secretKey: services.secretKey,
});

/** Mail addresses are for administrators, and for owners of the enterprise group that the user belongs to. */
const showsEmail = ({ source, caller }: View, user: MemberUser): boolean =>
  caller?.admin === true ||
  (source.kind === 'group' &&
    source.role >= OWNER &&
    user.enterprise_group_id !== null &&
    user.enterprise_group_id === source.rootGroupId);

type Shown = { reach: Reach; seats?: boolean | undefined };

/** The members' records, in the order of the users; in one statement, or two with seats, however many there are. */
export async function presentMembers(
  db: Db,
  view: View,
  users: readonly MemberUser[],
  { reach, seats = false }: Shown,
): Promise<Member[]> {
  const userIds = users.map((user) => user.id);
  const memberships = await selectMemberships(db, view.source, view.caller, reach, userIds);
  const seated = seats ? await selectSeated(db, view.tier, users) : undefined;
  return users.flatMap((user) => {
    const membership = memberships.get(user.id);
    // A user who left since the page was read is left out of it.
    if (!membership) return [];
    return [presentMember(view, user, membership, seated?.has(user.id))];
  });
}

function presentMember(
  view: View,
  user: MemberUser,
  membership: Membership,
  usesSeat: boolean | undefined,
): Member {
  return {
    ...presentUserBasic(view, user),
    access_level: membership.access_level,
    created_at: membership.created_at.toISOString(),
    ...(membership.created_by && { created_by: presentUserBasic(view, membership.created_by) }),
    expires_at: membership.expires_at,
    ...(showsEmail(view, user) && { email: user.email }),
    ...(usesSeat !== undefined && { is_using_seat: usesSeat }),
    membership_state: membership.state,
    ...(view.tier === 'ultimate' && {
      member_role: membership.member_role && presentMemberRole(membership.member_role),
    }),
  };
}

/** The record of one user's membership; 404 when there is none. */
export async function showMember(db: Db, view: View, userId: number, reach: Reach): Promise<Member> {
  const member = found(await selectMember(db, view.source, view.caller, reach, userId));
  return presentMember(view, member, member, undefined);
}

export const presentAccessRequester = (
  view: Surroundings,
  row: UserBasicRow & { requested_at: Date },
): AccessRequester => ({
  ...presentUserBasic(view, row),
  requested_at: row.requested_at.toISOString(),
});

/** A day as an instant, which is how invitations show it (facts: Invitation). */
const startOfDay = (day: string | null): string | null => (day === null ? null : `${day}T00:00:00.000Z`);

/** The invitation; its token, which would let its holder join, is for administrators only. */
export const presentInvitation = (view: View, row: InvitationRow): Invitation => ({
  access_level: row.access_level,
  created_at: row.created_at.toISOString(),
  expires_at: startOfDay(row.expires_at),
  invite_email: row.email,
  ...(view.caller?.admin && { invite_token: unseal(view.secretKey, row.token_sealed) }),
  // No user has accepted it yet, so it has none.
  user_name: null,
  created_by_name: row.created_by_name,
});
