/** Avatars: sets the caller's own, and serves those of users, groups and projects. */

import Type from 'typebox';
import { anyone, signedIn } from '../../kernel/access/access.ts';
import { authorizeGroup, authorizeProject } from '../../kernel/access/find.ts';
import { selectUser } from '../../kernel/access/users.ts';
import type { Caller } from '../../kernel/actor.ts';
import { avatarResponse } from '../../kernel/api/avatar-response.ts';
import { type Endpoint, endpoint } from '../../kernel/api/endpoint.ts';
import { fileRoute } from '../../kernel/api/file-route.ts';
import { avatarChange, pictureFile } from '../../kernel/files/pictures.ts';
import type { Needs } from '../../kernel/services.ts';
import { gravatarUrl, uploadUrl, userAvatarUrl } from '../../kernel/users/records.ts';
import { forbidden, notFound } from '../../platform/failure.ts';
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
      const row = await changeAvatar(db, actor, avatarChange(services, input.avatar));
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

/** `/uploads/-/system/…`: the addresses in records. */
export const avatarRoutes = (
  services: Needs<'blobs' | 'config' | 'database' | 'settings' | 'authenticator' | 'limiter' | 'disk'>,
): Route[] => {
  const { database } = services;
  const avatarOf = (
    kind: 'user' | 'group' | 'project',
    open: boolean,
    find: (caller: Caller, id: number) => Promise<{ avatar: string | null } | undefined>,
  ): Route =>
    fileRoute(services, {
      path: `/uploads/-/system/${kind}/avatar/:id/:filename`,
      open,
      async handle({ caller, params: { id = '', filename } }) {
        if (!/^\d{1,15}$/.test(id)) throw notFound();
        return avatarResponse(services, (await find(caller, Number(id)))?.avatar ?? null, filename);
      },
    });
  return [
    avatarOf('user', true, async (_, id) => (await selectUser(database.sql, id))?.row),
    avatarOf(
      'group',
      false,
      async (caller, id) => (await authorizeGroup(database.points, caller, 'read_group', id)).row,
    ),
    avatarOf(
      'project',
      false,
      async (caller, id) => (await authorizeProject(database.points, caller, 'read_project', id)).row,
    ),
  ];
};
