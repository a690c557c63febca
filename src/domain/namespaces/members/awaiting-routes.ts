/** Members of a top-level group who wait for access: taken, given back, and listed (facts: Group operations). */
import Type from 'typebox';
import { onGroup } from '../../../kernel/access/access.ts';
import type { AuthorizedGroup } from '../../../kernel/access/find.ts';
import { type Endpoint, endpoint, listing } from '../../../kernel/api/endpoint.ts';
import { presentUserBasic } from '../../../kernel/users/records.ts';
import { badRequest } from '../../../platform/failure.ts';
import { integerId, stringEnum } from '../../../platform/http/parameters/schema.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { activateMember, approveAll, approveMember, suspendMember } from './awaiting-actions.ts';
import { selectPending } from './queries.ts';
import { PendingMember } from './schema.ts';
import { groups, type Source } from './source.ts';

const Success = Type.Object({ success: Type.Boolean() });
const success = { success: true };
const common = { access: onGroup('manage_group_members'), tier: 'premium' } as const;

function topLevel(group: AuthorizedGroup): Source {
  if (group.row.parent_id !== null) throw badRequest('Members wait for access to top-level groups');
  return groups.view(group);
}

export const awaitingEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path: '/groups/:id/pending_members',
    summary: 'Memberships in a top-level group, its subgroups and projects that wait for access.',
    ...common,
    page: 'offset',
    item: PendingMember,
    handle: async ({ db, services, settings, subject, page }) => {
      const around = { baseUrl: services.baseUrl(), settings };
      return mapPage(await selectPending(db, topLevel(subject), page), ({ member_id, ...user }) => ({
        ...presentUserBasic(around, user),
        id: member_id,
        user_id: user.id,
        approved: false,
        invited: false,
      }));
    },
  }),
  endpoint({
    method: 'PUT',
    path: '/groups/:id/members/:user_id/state',
    summary: 'Takes the access of a member to a top-level group and all below it, or gives it back.',
    ...common,
    input: Type.Object({ user_id: integerId(), state: stringEnum(['awaiting', 'active']) }),
    reply: Success,
    handle: async ({ db, actor, subject, input }) => {
      const change = input.state === 'active' ? activateMember : suspendMember;
      await change(db, topLevel(subject), actor, input.user_id);
      return success;
    },
  }),
  endpoint({
    method: 'PUT',
    path: '/groups/:id/members/:member_id/approve',
    summary: 'Gives access to who waits for it, by the id of a pending membership.',
    ...common,
    input: Type.Object({ member_id: integerId() }),
    reply: Success,
    handle: async ({ db, actor, subject, input }) => {
      await approveMember(db, topLevel(subject), actor, input.member_id);
      return success;
    },
  }),
  endpoint({
    method: 'POST',
    path: '/groups/:id/members/approve_all',
    summary: 'Gives access to everybody who waits for it in a top-level group.',
    ...common,
    reply: Success,
    handle: async ({ db, actor, subject }) => {
      await approveAll(db, topLevel(subject), actor);
      return success;
    },
  }),
];
