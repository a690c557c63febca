/** Endpoints of follows. */

import { sql } from 'kysely';
import Type from 'typebox';
import { type Access, onUser } from '../../kernel/access/access.ts';
import type { AuthorizedUser, UserRow } from '../../kernel/access/users.ts';
import type { Actor, Caller } from '../../kernel/actor.ts';
import { type Endpoint, endpoint, listing, Reply } from '../../kernel/api/endpoint.ts';
import { presentUserBasic, UserBasic } from '../../kernel/users/records.ts';
import { now } from '../../platform/clock.ts';
import { type Db, inTransaction } from '../../platform/db/database.ts';
import { badRequest, forbidden, unauthenticated } from '../../platform/failure.ts';
import { mapPage, type PageRequest, selectPage } from '../../platform/pagination/page.ts';
import { readScopes, surroundings } from './users/routes.ts';

/** Follows of one user (facts §9). */
const MAX_FOLLOWED = 300;

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

/** Returns whether the follow is new. 400 for oneself, and beyond the limit. */
async function follow(db: Db, actor: Actor, user: AuthorizedUser): Promise<boolean> {
  if (actor.id === user.id) throw badRequest("You can't follow yourself.");
  return inTransaction(db, async (tx) => {
    // Concurrent follows of one user are counted in turn.
    await tx.selectFrom('users').select('id').where('id', '=', actor.id).forNoKeyUpdate().execute();
    const { followed } = await tx
      .selectFrom('follows')
      .select(sql<number>`count(*)::integer`.as('followed'))
      .where('follower_id', '=', actor.id)
      .executeTakeFirstOrThrow();
    const added = await tx
      .insertInto('follows')
      .values({ follower_id: actor.id, followee_id: user.id, created_at: now() })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    if (added.numInsertedOrUpdatedRows === 0n) return false;
    if (followed < MAX_FOLLOWED) return true;
    throw badRequest(
      `You can't follow more than ${MAX_FOLLOWED} users. To follow more users, unfollow some others.`,
    );
  });
}

/** Returns whether there was a follow. */
async function unfollow(db: Db, actor: Actor, user: AuthorizedUser): Promise<boolean> {
  const removed = await db
    .deleteFrom('follows')
    .where('follower_id', '=', actor.id)
    .where('followee_id', '=', user.id)
    .executeTakeFirst();
  return removed.numDeletedRows > 0n;
}

function refusePrivate(user: UserRow, caller: Caller): void {
  if (user.private_profile && !caller?.admin && caller?.id !== user.id) throw forbidden();
}

/** The users at the other end of this user's follows. */
function selectFollowPage(
  db: Db,
  userId: number,
  end: 'follower_id' | 'followee_id',
  caller: Caller,
  page: PageRequest,
) {
  const other = end === 'follower_id' ? 'followee_id' : 'follower_id';
  let query = db
    .selectFrom('users')
    .innerJoin('follows', `follows.${other}`, 'users.id')
    .selectAll('users')
    .where(`follows.${end}`, '=', userId)
    .where('users.deletion', 'is', null);
  if (!caller?.admin) query = query.where('users.state', '=', 'active');
  return selectPage(db, query, page, { by: 'id', sort: 'desc' }, { id: 'users.id' });
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
