/** Pages of followers and of those whom a user follows. */

import type { Caller } from '../../kernel/actor.ts';
import type { Db } from '../../platform/db/database.ts';
import { type PageRequest, selectPage } from '../../platform/pagination/page.ts';

/** The users at the other end of this user's follows. */
export function selectFollowPage(
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
