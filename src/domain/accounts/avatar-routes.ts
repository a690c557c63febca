/** Avatars: sets the caller's own, and serves those of users, groups and projects. */

import Type from 'typebox';
import { anyone, signedIn } from '../../kernel/access/access.ts';
import { authorizeGroup, authorizeProject } from '../../kernel/access/find.ts';
import { selectUser } from '../../kernel/access/users.ts';
import type { Caller } from '../../kernel/actor.ts';
import { avatarResponse } from '../../kernel/api/avatar-response.ts';
import { type Endpoint, endpoint } from '../../kernel/api/endpoint.ts';
import { pictureFile, storeAvatar } from '../../kernel/files/pictures.ts';
import { presentedCredential } from '../../kernel/identity/credentials.ts';
import type { Services } from '../../kernel/services.ts';
import { gravatarUrl, uploadUrl, userAvatarUrl } from '../../kernel/users/records.ts';
import { forbidden, notFound } from '../../platform/failure.ts';
import type { HttpRequest } from '../../platform/http/messages.ts';
import { parseUrlEncoded } from '../../platform/http/parameters/raw-parameters.ts';
import { nullable } from '../../platform/http/parameters/schema.ts';
import type { Route } from '../../platform/http/server/server.ts';
import { changeAvatar } from './users/actions.ts';
import { selectAvatarByAddress } from './users/queries.ts';
import { surroundings } from './users/routes.ts';

const Avatar = Type.Object({ avatar_url: nullable(Type.String()) });

export const avatarEndpoints: Endpoint[] = [
  endpoint({
    method: 'PUT',
    path: '/user/avatar',
    summary: "Sets the caller's picture.",
    access: signedIn,
    input: Type.Object({
      avatar: nullable(pictureFile({ description: 'A picture of at most 200 KiB; empty to remove it.' })),
    }),
    reply: Avatar,
    handle: async (context) => {
      const { db, services, actor, input } = context;
      const avatar = input.avatar ? await storeAvatar(services.config.data, input.avatar) : null;
      const row = await changeAvatar(db, actor, avatar);
      return { avatar_url: userAvatarUrl(surroundings(context), row) };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/avatar',
    summary: 'The picture of the user who shows this mail address, else one by the address itself.',
    access: anyone,
    input: Type.Object({
      email: Type.String({ maxLength: 254, description: 'A mail address.' }),
      size: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 2_048,
          description: 'Of an address that is not a picture uploaded here: the width in pixels.',
        }),
      ),
    }),
    reply: Avatar,
    handle: async (context) => {
      const { db, input, actor, settings } = context;
      if (actor === undefined && settings.restricted_visibility_levels.includes('public')) throw forbidden();
      const address = input.email.trim().toLowerCase();
      const user = await selectAvatarByAddress(db, address);
      const uploaded = user && uploadUrl(surroundings(context), 'user', user.id, user.avatar);
      // Not by a hidden primary address, which could be recovered from the picture's address.
      const other = settings.gravatar_enabled ? gravatarUrl(address, input.size) : null;
      return { avatar_url: uploaded ?? other };
    },
  }),
];

type OwnerKind = 'user' | 'group' | 'project';

/** The stored avatar of the owner, for a caller who may see the owner; 404 otherwise. */
async function selectAvatar(
  services: Services,
  caller: Caller,
  kind: OwnerKind,
  id: number,
): Promise<string | null> {
  const driver = services.database.sql;
  if (kind === 'user') return (await selectUser(driver, id))?.row.avatar ?? null;
  if (kind === 'group') return (await authorizeGroup(driver, caller, 'read_group', id)).row.avatar;
  return (await authorizeProject(driver, caller, 'read_project', id)).row.avatar;
}

async function callerOf(services: Services, request: HttpRequest): Promise<Caller> {
  const query = parseUrlEncoded(request.query);
  const question = {
    credential: presentedCredential(request.headers, query),
    jobToken: false,
    safeMethod: true,
    csrfToken: undefined,
    sudo: undefined,
  };
  return services.authenticator.authenticate(question, await services.settings.read());
}

const kinds: Record<string, OwnerKind> = { user: 'user', group: 'group', project: 'project' };

/** `/uploads/-/system/…`: the addresses in records. */
export const avatarRoutes = (services: Services): Route[] => [
  {
    method: 'GET',
    path: '/uploads/-/system/:kind/avatar/:id/:filename',
    async handle(request) {
      const { kind: word = '', id = '', filename } = request.params;
      const kind = Object.hasOwn(kinds, word) ? kinds[word] : undefined;
      if (kind === undefined || !/^\d{1,15}$/.test(id)) throw notFound();
      const caller = kind === 'user' ? undefined : await callerOf(services, request);
      const avatar = await selectAvatar(services, caller, kind, Number(id));
      return avatarResponse(services.config.data, avatar, filename);
    },
  },
];
