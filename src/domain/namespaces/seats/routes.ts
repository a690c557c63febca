/** Endpoints of the members who take a seat in a top-level group and all below it, for its owners. */
import { onGroup } from '../../../kernel/access/access.ts';
import type { AuthorizedGroup } from '../../../kernel/access/find.ts';
import { type Endpoint, endpoint, listing, noContent, Reply } from '../../../kernel/api/endpoint.ts';
import { levelName } from '../../../kernel/policy/roles.ts';
import { presentUserBasic } from '../../../kernel/users/records.ts';
import { badRequest, notFound } from '../../../platform/failure.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { removeBelow } from '../members/actions.ts';
import { groups } from '../members/source.ts';
import {
  type BillableRow,
  hasOneOwner,
  isBillable,
  membershipType,
  selectBillable,
  selectBillableMemberships,
} from './queries.ts';
import { BillableMember, BillableMembership, OneBillableMember, SeatList } from './schema.ts';

const common = { access: onGroup('read_billable_members'), tier: 'premium' } as const;
const path = '/groups/:id/billable_members';

function requireTopLevel({ row }: AuthorizedGroup): void {
  if (row.parent_id !== null) throw badRequest('Seats are counted of top-level groups');
}

const OF_SHARES = 2;

type View = Parameters<typeof presentUserBasic>[0] & { showsEmail: boolean; oneOwner: boolean };

function present(view: View, row: BillableRow): BillableMember {
  const isLastOwner = row.owns && view.oneOwner;
  return {
    ...presentUserBasic(view, row),
    ...(view.showsEmail && { email: row.email }),
    last_activity_on: row.last_activity_on,
    last_login_at: row.current_sign_in_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    access_level: row.access_level,
    membership_type: membershipType(row.type),
    membership_state: 'active',
    removable: row.type < OF_SHARES && !isLastOwner,
    is_last_owner: isLastOwner,
  };
}

const membershipsEndpoint = (kind: 'direct' | 'indirect'): Endpoint =>
  listing({
    method: 'GET',
    path: `${path}/:user_id/${kind === 'direct' ? 'memberships' : 'indirect'}`,
    summary:
      kind === 'direct'
        ? 'What a member with a seat is a member of: the group, its subgroups and projects.'
        : 'The groups by which a member with a seat is one: those with which something is shared.',
    ...common,
    input: OneBillableMember,
    page: 'offset',
    item: BillableMembership,
    handle: async ({ db, services, subject, input, page }) => {
      requireTopLevel(subject);
      if (!(await isBillable(db, subject.id, services.config.tier, input.user_id))) throw notFound('User');
      const listed = await selectBillableMemberships(db, subject.id, input.user_id, kind, page);
      return mapPage(listed, (row) => ({
        id: row.id,
        source_id: row.source_id,
        source_full_name: row.source_name,
        source_members_url: `${services.baseUrl()}/${row.source_path}`,
        created_at: row.created_at.toISOString(),
        expires_at: row.expires_at,
        access_level: {
          string_value: levelName(row.access_level),
          integer_value: row.access_level,
          custom_role: null,
        },
      }));
    },
  });

export const billableEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: 'Users who take a seat in a top-level group: of it, its subgroups and projects, and by shares.',
    ...common,
    input: SeatList,
    page: 'offset',
    item: BillableMember,
    handle: async ({ db, services, settings, actor, subject, input, page }) => {
      requireTopLevel(subject);
      const listed = await selectBillable(db, subject.id, services.config.tier, input, page);
      const oneOwner = listed.items.some(({ owns }) => owns) && (await hasOneOwner(db, subject.id));
      const view = { baseUrl: services.baseUrl(), settings, showsEmail: actor.admin, oneOwner };
      return mapPage(listed, (row) => present(view, row));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/:user_id`,
    summary: 'Ends all memberships of a user in a top-level group, its subgroups and projects.',
    access: onGroup('manage_group_members'),
    tier: 'premium',
    input: OneBillableMember,
    reply: noContent,
    handle: async ({ db, actor, subject, input, unmodified }) => {
      requireTopLevel(subject);
      await removeBelow(db, groups.view(subject), actor, input.user_id, unmodified);
      return new Reply<null>(204);
    },
  }),
  membershipsEndpoint('direct'),
  membershipsEndpoint('indirect'),
];
