/** Access requests and invitations of projects and groups. */
import Type from 'typebox';
import { type Endpoint, endpoint, found, listing, noContent, Reply } from '../../../kernel/api/endpoint.ts';
import { DEVELOPER } from '../../../kernel/policy/roles.ts';
import { mapPage } from '../../../platform/pagination/page.ts';

import { findNewcomers } from './actions.ts';
import { listAccessRequesters, listInvitations, selectInvitation } from './invitation-queries.ts';
import { outcomeOf } from './member-routes.ts';
import { presentAccessRequester, presentInvitation, showMember, viewOf } from './present.ts';
import { selectUsers } from './queries.ts';
import {
  AccessRequester,
  ApprovedRequester,
  accessLevel,
  ChangedInvitation,
  Invitation,
  NewInvitations,
  Outcome,
} from './schema.ts';
import type { SourceKind } from './source.ts';
import {
  approveAccessRequest,
  invite,
  removeAccessRequest,
  removeInvitation,
  requestAccess,
  updateInvitation,
} from './waiting-actions.ts';

export const accessRequestEndpoints = <S>(kind: SourceKind<S>): Endpoint[] => [
  listing({
    method: 'GET',
    path: `${kind.path}/access_requests`,
    summary: `Users who asked for access to a ${kind.noun}.`,
    access: kind.access.manage,
    page: 'offset',
    item: AccessRequester,
    handle: async ({ db, subject, page, ...context }) => {
      const view = viewOf(context, kind.view(subject));
      const listed = await listAccessRequesters(db, view.source, page);
      return mapPage(listed, (row) => presentAccessRequester(view, row));
    },
  }),
  endpoint({
    method: 'POST',
    path: `${kind.path}/access_requests`,
    summary: `The caller asks for access to a ${kind.noun}.`,
    access: kind.access.request,
    reply: AccessRequester,
    handle: async ({ db, subject, ...context }) => {
      const view = viewOf(context, kind.view(subject));
      const requested_at = await requestAccess(db, view.source, context.actor);
      const [user] = await selectUsers(db, [context.actor.id]);
      return presentAccessRequester(view, { ...found(user), requested_at });
    },
  }),
  endpoint({
    method: 'PUT',
    path: `${kind.path}/access_requests/:user_id/approve`,
    summary: `Makes a member of a user who asked for access to a ${kind.noun}.`,
    access: kind.access.manage,
    also: [409],
    // It makes a membership (facts: Members API, "PUT 201").
    status: 201,
    input: Type.Object({ user_id: Type.Integer(), access_level: Type.Optional(accessLevel()) }),
    reply: ApprovedRequester,
    handle: async ({ db, services, subject, input, ...context }) => {
      const view = viewOf({ services, ...context }, kind.view(subject));
      const { user_id, access_level = DEVELOPER } = input;
      const grant = { access_level, expires_at: null };
      const { tier } = services.config;
      const requested = await approveAccessRequest(db, view.source, context.actor, user_id, grant, tier);
      const member = await showMember(db, view, user_id, 'direct');
      return { ...member, requested_at: requested.toISOString() };
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${kind.path}/access_requests/:user_id`,
    summary: `Denies a request for access to a ${kind.noun}, or withdraws the caller's own.`,
    access: kind.access.leave,
    input: Type.Object({ user_id: Type.Integer() }),
    reply: noContent,
    handle: async ({ db, subject, actor, input, unmodified }) => {
      await removeAccessRequest(db, kind.view(subject), actor, input.user_id, unmodified);
      return new Reply<null>(204);
    },
  }),
];

export const invitationEndpoints = <S>(kind: SourceKind<S>): Endpoint[] => [
  listing({
    method: 'GET',
    path: `${kind.path}/invitations`,
    summary: `Mail addresses that are invited to a ${kind.noun}.`,
    access: kind.access.manage,
    input: Type.Object({
      query: Type.Optional(Type.String({ maxLength: 255, description: 'Part of an address.' })),
    }),
    page: 'offset',
    item: Invitation,
    handle: async ({ db, subject, input, page, ...context }) => {
      const view = viewOf(context, kind.view(subject));
      const listed = await listInvitations(db, view.source, input.query, page);
      return mapPage(listed, (row) => presentInvitation(view, row));
    },
  }),
  endpoint({
    method: 'POST',
    path: `${kind.path}/invitations`,
    summary: `Invites mail addresses to a ${kind.noun}, and adds users; the addresses' owners decide.`,
    access: kind.access.manage,
    also: [405],
    input: NewInvitations,
    reply: Outcome,
    handle: async ({ db, services, subject, actor, input }) => {
      const source = kind.view(subject);
      const { access_level, expires_at = null, member_role_id = null, email = [], user_id = [] } = input;
      const grant = { access_level, expires_at, member_role_id };
      const { tier } = services.config;
      const named = { ids: user_id, addresses: email };
      const users = await findNewcomers(db, source, actor, grant, tier, named);
      const people = { users, addresses: email };
      const problems = await invite(
        db,
        source,
        actor,
        { secretKey: services.secretKey, tier },
        people,
        grant,
      );
      const known = new Set(users.map(({ id, address }) => (address === null ? id : undefined)));
      for (const id of user_id) if (!known.has(id)) problems[id] = '404 User Not Found';
      return outcomeOf(problems);
    },
  }),
  endpoint({
    method: 'PUT',
    path: `${kind.path}/invitations/:email`,
    summary: `Changes the access level or expiry that an invitation to a ${kind.noun} will give.`,
    access: kind.access.manage,
    input: ChangedInvitation,
    reply: Invitation,
    handle: async ({ db, services, subject, input, ...context }) => {
      const view = viewOf({ services, ...context }, kind.view(subject));
      const { email, ...change } = input;
      await updateInvitation(db, view.source, context.actor, email, change, services.config.tier);
      return presentInvitation(view, found(await selectInvitation(db, view.source, email)));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${kind.path}/invitations/:email`,
    summary: `Takes back an invitation to a ${kind.noun}.`,
    access: kind.access.manage,
    input: Type.Object({ email: Type.String() }),
    reply: noContent,
    handle: async ({ db, subject, actor, input, unmodified }) => {
      await removeInvitation(db, kind.view(subject), actor, input.email, unmodified);
      return new Reply<null>(204);
    },
  }),
];
