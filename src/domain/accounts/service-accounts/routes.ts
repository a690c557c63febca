/** Endpoints of service accounts: of the instance for administrators, and of a group for its owners (facts: packages §7.1). */
import Type from 'typebox';
import { onGroup, onInstance } from '../../../kernel/access/access.ts';
import { findServiceAccount } from '../../../kernel/access/users.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { type Endpoint, endpoint, found, listing, noContent, Reply } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import type { Db } from '../../../platform/db/database.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { updateUser } from '../users/actions.ts';
import { requestDeletion } from '../users/deletion-actions.ts';
import { createServiceAccount, requireVouched } from './actions.ts';
import { type ServiceAccountRow, selectServiceAccount, selectServiceAccounts } from './queries.ts';
import { NewServiceAccount, ServiceAccount, ServiceAccountList } from './schema.ts';

const present = ({ unconfirmed_email, ...row }: ServiceAccountRow): ServiceAccount => ({
  id: row.id,
  username: row.username,
  name: row.name,
  public_email: row.public_email,
  email: row.email,
  ...(unconfirmed_email !== null && { unconfirmed_email }),
});

const show = async (db: Db, id: number): Promise<ServiceAccount> =>
  present(found(await selectServiceAccount(db, id), 'User'));

type ChangeContext = {
  db: Db;
  services: Needs<'secretKey'>;
  settings: ApplicationSettings;
  actor: Actor;
};

async function change(
  { db, services, settings, actor }: ChangeContext,
  id: number,
  { name, username, email }: NewServiceAccount,
): Promise<ServiceAccount> {
  requireVouched(actor, email);
  const changes = {
    ...(name !== undefined && { name }),
    ...(username !== undefined && { username }),
    ...(email !== undefined && { email, skip_reconfirmation: true }),
  };
  const settled = { actor, settings, secretKey: services.secretKey, avatar: undefined, group: undefined };
  await updateUser(db, id, changes, settled);
  return show(db, id);
}

const UserId = { user_id: Type.Integer() };
const ofInstance = { access: onInstance, tier: 'premium' } as const;
const ofGroup = { access: onGroup('manage_service_accounts'), tier: 'premium' } as const;
const groupPath = '/groups/:id/service_accounts';
const groupPathOfOne = `${groupPath}/:user_id` as const;

export const serviceAccountEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path: '/service_accounts',
    summary: 'Service accounts of the instance and of groups.',
    ...ofInstance,
    input: ServiceAccountList,
    item: ServiceAccount,
    page: 'offset',
    handle: async ({ db, input, page }) =>
      mapPage(await selectServiceAccounts(db, undefined, input, page), present),
  }),
  endpoint({
    method: 'POST',
    path: '/service_accounts',
    summary: 'Makes a service account of the instance: a user that programs act by, and nobody signs in to.',
    ...ofInstance,
    also: [409],
    input: NewServiceAccount,
    reply: ServiceAccount,
    handle: async (context) => show(context.db, await createServiceAccount(context, context.input)),
  }),
  endpoint({
    method: 'PATCH',
    path: '/service_accounts/:user_id',
    summary: 'Changes a service account.',
    ...ofInstance,
    also: [409],
    input: Type.Object({ ...UserId, ...NewServiceAccount.properties }),
    reply: ServiceAccount,
    handle: async (context) => {
      const { user_id, ...changes } = context.input;
      const { id } = await findServiceAccount(context.services.database.sql, user_id);
      return change(context, id, changes);
    },
  }),
  listing({
    method: 'GET',
    path: groupPath,
    summary: 'Service accounts that a top-level group has made.',
    ...ofGroup,
    input: ServiceAccountList,
    item: ServiceAccount,
    page: 'offset',
    handle: async ({ db, subject, input, page }) =>
      mapPage(await selectServiceAccounts(db, subject.id, input, page), present),
  }),
  endpoint({
    method: 'POST',
    path: groupPath,
    summary: 'Makes a service account of a top-level group; it is no member yet.',
    ...ofGroup,
    also: [409],
    input: NewServiceAccount,
    reply: ServiceAccount,
    handle: async (context) =>
      show(context.db, await createServiceAccount(context, context.input, context.subject)),
  }),
  endpoint({
    method: 'PATCH',
    path: groupPathOfOne,
    summary: 'Changes a service account of a group.',
    ...ofGroup,
    also: [409],
    input: Type.Object({ ...UserId, ...NewServiceAccount.properties }),
    reply: ServiceAccount,
    handle: async (context) => {
      const { user_id, ...changes } = context.input;
      const by = { actor: context.actor, groupId: context.subject.id };
      const { id } = await findServiceAccount(context.services.database.sql, user_id, by);
      return change(context, id, changes);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: groupPathOfOne,
    summary:
      'Removes a service account of a group, in the background; what it made goes to the ghost user, or away with hard_delete.',
    ...ofGroup,
    also: [409],
    input: Type.Object({ ...UserId, hard_delete: Type.Optional(Type.Boolean()) }),
    reply: noContent,
    handle: async ({ db, services, actor, subject, input, unmodified }) => {
      const by = { actor, groupId: subject.id };
      const user = await findServiceAccount(services.database.sql, input.user_id, by);
      unmodified(user.row.updated_at);
      await requestDeletion(db, actor, user, { hard: input.hard_delete ?? false, event: 'user_deleted' });
      return new Reply(204);
    },
  }),
];
