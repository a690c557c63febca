/** Endpoints of enterprise users, whom the owners of a top-level group manage. */
import Type from 'typebox';
import { onGroup } from '../../../kernel/access/access.ts';
import type { AuthorizedGroup } from '../../../kernel/access/find.ts';
import { type AuthorizedUser, findUser } from '../../../kernel/access/users.ts';
import type { Actor } from '../../../kernel/actor.ts';
import {
  type Context,
  type Endpoint,
  endpoint,
  found,
  listing,
  noContent,
  Reply,
} from '../../../kernel/api/endpoint.ts';
import { forbidden, notFound } from '../../../platform/failure.ts';
import { updateUser } from '../users/actions.ts';
import { requestDeletion } from '../users/deletion-actions.ts';
import { UserChanges, UserFilters } from '../users/inputs.ts';
import { presentOwn } from '../users/present.ts';
import { selectEnterprisePage } from '../users/queries.ts';
import { showUsers } from '../users/routes.ts';
import { UserRecord } from '../users/schema.ts';
import { disableTwoFactor } from './state-actions.ts';

const UserId = { user_id: Type.Integer() };
const { username, search, active, blocked, created_after, created_before, two_factor } =
  UserFilters.properties;
const { name, email } = UserChanges.properties;

type OnUser = Context<{ user_id: number }, AuthorizedGroup, Actor>;

/** An enterprise user of this group; 404 for other users. */
async function findEnterpriseUser({ services, subject, input }: OnUser): Promise<AuthorizedUser> {
  const user = await findUser(services.database.sql, input.user_id);
  if (user.row.enterprise_group_id !== subject.id) throw notFound('User');
  return user;
}

/** The same for changes: group owners may not change administrators. */
async function findForChange(context: OnUser): Promise<AuthorizedUser> {
  const user = await findEnterpriseUser(context);
  if (user.row.admin && !context.actor.admin) throw forbidden();
  return user;
}

const access = onGroup('manage_enterprise_users');
const common = { access, tier: 'premium' } as const;
const one = '/groups/:id/enterprise_users/:user_id';

export const enterpriseEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path: '/groups/:id/enterprise_users',
    summary: 'Enterprise users of a top-level group.',
    ...common,
    input: Type.Object({ username, search, active, blocked, created_after, created_before, two_factor }),
    item: UserRecord,
    page: 'offset',
    handle: async (context) => {
      const { db, subject, input, page } = context;
      const rows = await selectEnterprisePage(db, subject, input, page);
      const ids = rows.items.map((row) => row.id);
      return { ...rows, items: await showUsers(context, ids, presentOwn) };
    },
  }),
  endpoint({
    method: 'GET',
    path: one,
    summary: 'One enterprise user of a group.',
    ...common,
    input: Type.Object(UserId),
    reply: UserRecord,
    handle: async (context) => {
      const user = await findEnterpriseUser(context);
      return found((await showUsers(context, [user.id], presentOwn))[0], 'User');
    },
  }),
  endpoint({
    method: 'PATCH',
    path: one,
    summary:
      'Changes the name or the mail address of an enterprise user; an address counts once it is confirmed.',
    // For administrators, when the address is taken.
    also: [409],
    ...common,
    input: Type.Object({ ...UserId, name, email }),
    reply: UserRecord,
    handle: async (context) => {
      const { db, services, settings, actor, input } = context;
      const user = await findForChange(context);
      const changes = {
        ...(input.name !== undefined && { name: input.name }),
        ...(input.email !== undefined && { email: input.email }),
      };
      const settled = { actor, settings, secretKey: services.secretKey, avatar: undefined, group: undefined };
      await updateUser(db, user.id, changes, settled);
      return found((await showUsers(context, [user.id], presentOwn))[0], 'User');
    },
  }),
  endpoint({
    method: 'DELETE',
    path: one,
    summary: 'Removes an enterprise user, in the background.',
    ...common,
    input: Type.Object({ ...UserId, hard_delete: Type.Optional(Type.Boolean()) }),
    reply: noContent,
    handle: async (context) => {
      const { db, actor, input, unmodified } = context;
      const user = await findForChange(context);
      unmodified(user.row.updated_at);
      await requestDeletion(db, actor, user, { hard: input.hard_delete ?? false, event: 'user_deleted' });
      return new Reply(204);
    },
  }),
  endpoint({
    method: 'PATCH',
    path: `${one}/disable_two_factor`,
    summary: 'Forgets the second factor of an enterprise user.',
    ...common,
    input: Type.Object(UserId),
    status: 204,
    reply: noContent,
    handle: async (context) => {
      await disableTwoFactor(context.db, context.actor, await findForChange(context));
      return new Reply(204);
    },
  }),
];
