/** Endpoints of users: list, profile, own; creation, changes and deletion by administrators. */
import Type from 'typebox';
import { anyone, onInstance, onUser, onUserAsAdmin, signedIn } from '../../../kernel/access/access.ts';
import { type AuthorizedGroup, authorizeGroup } from '../../../kernel/access/find.ts';
import type { Actor, Caller } from '../../../kernel/actor.ts';
import {
  type Context,
  type Endpoint,
  endpoint,
  found,
  listing,
  noContent,
  Reply,
} from '../../../kernel/api/endpoint.ts';
import { avatarChange } from '../../../kernel/files/pictures.ts';
import { selectCustomAttributes } from '../../../kernel/namespaces/custom-attribute-queries.ts';
import type { CustomAttribute } from '../../../kernel/namespaces/custom-attributes.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { forbidden, invalid, notFound } from '../../../platform/failure.ts';
import type { KeysetRule } from '../../../platform/pagination/pagination.ts';
import { createUser, updateUser } from './actions.ts';
import { requestDeletion } from './deletion-actions.ts';
import { CustomAttributeFields, NewUserInput, UserChanges, UserFilters } from './inputs.ts';
import { presentForAdmin, presentListed, presentOwn, presentProfile } from './present.ts';
import { selectProfiles, selectUserPage } from './queries.ts';
import { UserRecord } from './schema.ts';

/** Reads of users also accept `read_user` (facts: OAuth scopes). */
export const readScopes = ['api', 'read_api', 'read_user'];

const keyset: KeysetRule = {
  type: 'User',
  orderBy: { id: 'integer', name: 'text', username: 'text', created_at: 'time', updated_at: 'time' },
  sort: ['asc', 'desc'],
  anonymous: true,
  signedIn: true,
  default: { orderBy: 'id', sort: 'desc' },
  link: 'cursor',
};

type Situation = Pick<Context<unknown, unknown, Caller>, 'db' | 'services' | 'settings' | 'actor'>;

/** Settings on which addresses in records depend. */
export const surroundings = ({ services, settings }: Pick<Situation, 'services' | 'settings'>) => ({
  baseUrl: services.baseUrl(),
  settings,
});

/**
 * Where public visibility is restricted, only signed-in callers see users (settings:
 * restricted_visibility_levels).
 */
const hiddenFrom = ({ actor, settings }: Pick<Situation, 'actor' | 'settings'>): boolean =>
  actor === undefined && settings.restricted_visibility_levels.includes('public');

type Attributes = ReadonlyMap<number, CustomAttribute[]> | undefined;

async function requestedAttributes(
  situation: Situation,
  input: { with_custom_attributes?: boolean | undefined },
  ids: readonly number[],
): Promise<Attributes> {
  if (!situation.actor?.admin || !input.with_custom_attributes) return undefined;
  return selectCustomAttributes(situation.db, 'user_id', ids);
}

/** Users' records by one of the presenters, in the order of the ids. */
export async function showUsers(
  situation: Situation,
  ids: readonly number[],
  present: typeof presentProfile,
  attributes?: Attributes,
): Promise<UserRecord[]> {
  const { services, actor } = situation;
  const { points, sql } = services.database;
  const rows = await selectProfiles(ids.length === 1 ? points : sql, ids, actor?.id ?? 0);
  const viewer = { caller: actor, time: now(), tier: services.config.tier, attributes };
  return rows.map((row) => present(surroundings(situation), row, viewer));
}

/** The profiles of users, as the caller may see them. */
export const showProfiles = (situation: Situation, ids: readonly number[]): Promise<UserRecord[]> =>
  showUsers(situation, ids, presentProfile);

const presentInList: typeof presentProfile = (around, user, { attributes }) =>
  presentListed(around, user, attributes);

/** The administrator's record of a user after a change. */
const showForAdmin = async (situation: Situation, id: number): Promise<UserRecord> =>
  found((await showUsers(situation, [id], presentForAdmin))[0], 'User');

type ChangeContext = Context<UserChanges, unknown, Actor>;

/** The picture and the group in the body, each checked before the transaction. */
async function prepareChange({ services, settings, actor, input }: ChangeContext) {
  return {
    actor,
    settings,
    secretKey: services.secretKey,
    group: await provisioningGroup(services, actor, input.group_id_for_saml),
    avatar: avatarChange(services, input.avatar),
  };
}

async function provisioningGroup(
  services: Needs<'database'>,
  actor: Actor,
  id: number | undefined,
): Promise<AuthorizedGroup | undefined> {
  if (id === undefined) return undefined;
  const group = await authorizeGroup(services.database.points, actor, 'manage_enterprise_users', id);
  if (group.row.parent_id !== null) throw invalid({ group_id_for_saml: ['must be a top-level group'] });
  return group;
}

export const userEndpoint = endpoint({
  method: 'GET',
  path: '/users/:id',
  summary: 'A user; administrators are shown more.',
  access: onUser(),
  scopes: readScopes,
  limit: {
    name: 'users_get_by_id',
    setting: 'users_get_by_id_limit',
    periodSeconds: 600,
    exceptAdmins: true,
  },
  input: Type.Object(CustomAttributeFields),
  reply: UserRecord,
  handle: async (context) => {
    const { subject, actor, input } = context;
    if (hiddenFrom(context)) throw notFound('User');
    const attributes = await requestedAttributes(context, input, [subject.id]);
    const present = actor?.admin ? presentForAdmin : presentProfile;
    return found((await showUsers(context, [subject.id], present, attributes))[0], 'User');
  },
});

export const usersEndpoint = listing({
  method: 'GET',
  path: '/users',
  summary: 'Users, filtered; administrators are shown more of each.',
  access: anyone,
  scopes: readScopes,
  input: UserFilters,
  item: UserRecord,
  page: keyset,
  handle: async (context) => {
    const { db, input, page, actor } = context;
    if (hiddenFrom(context)) throw forbidden('Not authorized to access /api/v4/users');
    const needsAdmin = input.external === true || (input.extern_uid && input.provider);
    if (needsAdmin && !actor?.admin) throw forbidden();
    const rows = await selectUserPage(db, input, actor, page);
    const ids = rows.items.map((row) => row.id);
    const attributes = await requestedAttributes(context, input, ids);
    const present = actor?.admin ? presentForAdmin : presentInList;
    return { ...rows, items: await showUsers(context, ids, present, attributes) };
  },
});

export const newUserEndpoint = endpoint({
  method: 'POST',
  path: '/users',
  summary: 'Makes a user. One of password, reset_password and force_random_password is needed.',
  access: onInstance,
  also: [409],
  input: NewUserInput,
  reply: UserRecord,
  handle: async (context) => {
    const id = await createUser(context.db, context.input, await prepareChange(context));
    return showForAdmin(context, id);
  },
});

export const userChangesEndpoint = endpoint({
  method: 'PUT',
  path: '/users/:id',
  summary: 'Changes a user; what is not given stays.',
  access: onUserAsAdmin(),
  also: [409],
  input: UserChanges,
  reply: UserRecord,
  handle: async (context) => {
    await updateUser(context.db, context.subject.id, context.input, await prepareChange(context));
    return showForAdmin(context, context.subject.id);
  },
});

export const userEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/user',
    summary: 'The caller.',
    access: signedIn,
    scopes: readScopes,
    reply: UserRecord,
    handle: async (context) => {
      const { actor } = context;
      const present = actor.admin || actor.sudoBy ? presentForAdmin : presentOwn;
      return found((await showUsers(context, [actor.id], present))[0]);
    },
  }),
  usersEndpoint,
  userEndpoint,
  newUserEndpoint,
  userChangesEndpoint,
  endpoint({
    method: 'DELETE',
    path: '/users/:id',
    summary:
      'Removes a user, in the background; what they made goes to the ghost user, or away with hard_delete.',
    access: onUserAsAdmin(),
    also: [409],
    input: Type.Object({
      hard_delete: Type.Optional(
        Type.Boolean({ description: 'Removes contributions, and groups that the user alone owns.' }),
      ),
    }),
    reply: noContent,
    handle: async ({ db, subject, actor, input, unmodified }) => {
      unmodified(subject.row.updated_at);
      await requestDeletion(db, actor, subject, { hard: input.hard_delete ?? false, event: 'user_deleted' });
      return new Reply(204);
    },
  }),
];
