/** Endpoints of follows. */

import Type from 'typebox';
import { type Access, onUser } from '../../kernel/access/access.ts';
import type { UserRow } from '../../kernel/access/find-queries.ts';
import type { AuthorizedUser } from '../../kernel/access/users.ts';
import type { Actor, Caller } from '../../kernel/actor.ts';
import { type Endpoint, endpoint, listing, Reply } from '../../kernel/api/endpoint.ts';
import { presentUserBasic, UserBasic } from '../../kernel/users/records.ts';
import { forbidden, unauthenticated } from '../../platform/failure.ts';
import { mapPage } from '../../platform/pagination/page.ts';
import { follow, unfollow } from './follow-actions.ts';
import { selectFollowPage } from './follow-queries.ts';
import { readScopes, surroundings } from './users/routes.ts';

/** A user, for signed-in callers. */
const onOther: Access<AuthorizedUser, Actor> = {
  sentence: { on: 'user', ability: 'follow_user' },
  anonymous: false,
  find: async (request) => {
    const { caller } = request;
    if (!caller) throw unauthenticated();
    const { subject } = await onUser().find(request);
    return { subject, actor: caller };
  },
};

function refusePrivate(user: UserRow, caller: Caller): void {
  if (user.private_profile && !caller?.admin && caller?.id !== user.id) throw forbidden();
}

const limits = {
  followers: 'users_api_limit_followers',
  following: 'users_api_limit_following',
} as const;

const follows = (
  name: 'followers' | 'following',
  summary: string,
  end: 'follower_id' | 'followee_id',
): Endpoint =>
  listing({
    method: 'GET',
    path: `/users/:id/${name}`,
    summary,
    access: onUser(),
    scopes: readScopes,
    limit: { name: `users_${name}`, setting: limits[name], periodSeconds: 60 },
    item: UserBasic,
    page: 'offset',
    handle: async (context) => {
      const { db, subject, actor, page } = context;
      refusePrivate(subject.row, actor);
      const rows = await selectFollowPage(db, subject.id, end, actor, page);
      return mapPage(rows, (row) => presentUserBasic(surroundings(context), row));
    },
  });

export const followEndpoints: Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/users/:id/follow',
    summary: 'Follows a user; 304 when the caller does already.',
    access: onOther,
    also: [304],
    input: Type.Object({}),
    reply: UserBasic,
    handle: async (context) => {
      const { db, actor, subject } = context;
      if (!(await follow(db, actor, subject))) return new Reply(304);
      return presentUserBasic(surroundings(context), subject.row);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/users/:id/unfollow',
    summary: 'Follows a user no longer; 304 when the caller did not.',
    access: onOther,
    also: [304],
    reply: UserBasic,
    handle: async (context) => {
      const { db, actor, subject } = context;
      if (!(await unfollow(db, actor, subject))) return new Reply(304);
      return presentUserBasic(surroundings(context), subject.row);
    },
  }),
  follows('followers', 'Who follows a user.', 'followee_id'),
  follows('following', 'Whom a user follows.', 'follower_id'),
];
