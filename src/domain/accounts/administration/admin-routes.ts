/** Endpoints by which administrators moderate accounts. */
import Type from 'typebox';
import { onInstance, onOwnUser, onUserAsAdmin } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, listing, noContent, Reply } from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import { forbidden, notFound } from '../../../platform/failure.ts';
import { dateTime, nullable, stringEnum } from '../../../platform/http/parameters/schema.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { requestDeletion } from '../users/deletion-actions.ts';
import { selectActivityPage, selectAssociationsCount, selectMembershipPage } from '../users/queries.ts';
import { readScopes } from '../users/routes.ts';
import { stateChanges } from '../users/rules.ts';
import { AssociationsCount, Membership, UserActivity } from '../users/schema.ts';
import { approveUser, changeState, deleteIdentity, disableTwoFactor } from './state-actions.ts';

const Message = Type.Object({ message: Type.String() });

/** By the change. */
export const stateEndpoints = new Map(
  stateChanges.map((change) => [
    change,
    endpoint({
      method: 'POST',
      path: `/users/:id/${change}`,
      summary: `Changes the state of an account: ${change}.`,
      access: onUserAsAdmin(),
      also: [409],
      reply: nullable(Type.Boolean({ description: 'null when the account was in that state already.' })),
      handle: async ({ db, actor, subject }) =>
        (await changeState(db, actor, subject, change)) ? true : null,
    }),
  ]),
);

/** Default of `from`: half a year, in days. */
const ACTIVITY_DAYS = 183;

export const approvalEndpoint = endpoint({
  method: 'POST',
  path: '/users/:id/approve',
  summary: 'Lets in somebody who registered.',
  access: onUserAsAdmin(),
  also: [409],
  reply: Message,
  handle: async ({ db, actor, subject }) => {
    await approveUser(db, actor, subject);
    return { message: 'Success' };
  },
});

export const rejectionEndpoint = endpoint({
  method: 'POST',
  path: '/users/:id/reject',
  summary: 'Turns away somebody who registered, and removes the account.',
  access: onUserAsAdmin(),
  also: [409],
  reply: Message,
  handle: async ({ db, actor, subject }) => {
    await requestDeletion(db, actor, subject, { hard: true, event: 'user_rejected', waiting: true });
    return { message: 'Success' };
  },
});

export const adminEndpoints: Endpoint[] = [
  ...stateEndpoints.values(),
  approvalEndpoint,
  rejectionEndpoint,
  endpoint({
    method: 'PATCH',
    path: '/users/:id/disable_two_factor',
    summary: 'Forgets the second factor of a user who is not an administrator.',
    access: onUserAsAdmin(),
    reply: noContent,
    status: 204,
    handle: async ({ db, actor, subject }) => {
      if (subject.row.admin) {
        throw forbidden('Two-factor authentication for admins cannot be disabled via the API');
      }
      await disableTwoFactor(db, actor, subject);
      return new Reply(204);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/users/:id/identities/:provider',
    summary: 'Forgets who the user is to another provider.',
    access: onUserAsAdmin(),
    input: Type.Object({ provider: Type.String() }),
    reply: noContent,
    handle: async ({ db, actor, subject, input, unmodified }) => {
      unmodified(subject.row.updated_at);
      if (!(await deleteIdentity(db, actor, subject, input.provider))) throw notFound('Identity');
      return new Reply(204);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/users/:id/associations_count',
    summary:
      'How many groups and projects the user is a direct member of, and issues and merge requests made.',
    access: onOwnUser(),
    scopes: readScopes,
    reply: AssociationsCount,
    handle: ({ db, subject }) => selectAssociationsCount(db, subject),
  }),
  listing({
    method: 'GET',
    path: '/users/:user_id/memberships',
    summary: 'Groups and projects that the user is a direct member of.',
    access: onUserAsAdmin('user_id'),
    scopes: readScopes,
    input: Type.Object({ type: Type.Optional(stringEnum(['Project', 'Namespace'])) }),
    item: Membership,
    page: 'offset',
    handle: async ({ db, subject, input, page }) => {
      const rows = await selectMembershipPage(db, subject, input.type, page);
      return mapPage(rows, (row) => ({
        source_id: row.source_id,
        source_name: row.source_name,
        source_type: row.source_type,
        access_level: row.access_level,
      }));
    },
  }),
  listing({
    method: 'GET',
    path: '/user/activities',
    summary: 'When users were last here, earliest first.',
    access: onInstance,
    scopes: readScopes,
    input: Type.Object({
      from: Type.Optional(
        dateTime({ description: 'Only users who were here since; half a year unless told.' }),
      ),
    }),
    item: UserActivity,
    page: 'offset',
    handle: async ({ db, input, page }) => {
      const earliest = new Date(now().getTime() - ACTIVITY_DAYS * 86_400_000).toISOString();
      const rows = await selectActivityPage(db, (input.from ?? earliest).slice(0, 10), page);
      return mapPage(rows, ({ username, last_activity_on }) => ({
        username,
        last_activity_on,
        last_activity_at: last_activity_on,
      }));
    },
  }),
];
