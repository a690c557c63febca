/** Awards with their users. */

import type { Db } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/failure.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import type { Awardable } from '../noteables/awards.ts';
import type { AwardWithUser } from './present.ts';

const awardsOf = (db: Db, { column, id }: Awardable) =>
  db
    .selectFrom('award_emoji')
    .innerJoin('users', 'users.id', 'award_emoji.user_id')
    .selectAll('award_emoji')
    .select([
      'users.username',
      'users.public_email',
      'users.name as user_name',
      'users.state',
      'users.locked_at',
      'users.avatar',
      'users.email',
    ])
    .where(`award_emoji.${column}`, '=', id);

type Row = Awaited<ReturnType<ReturnType<typeof awardsOf>['executeTakeFirstOrThrow']>>;

const withUser = (row: Row): AwardWithUser => ({
  ...row,
  user: { ...row, id: row.user_id, name: row.user_name },
});

/** A page of the awards, oldest first. */
export async function selectAwards(
  db: Db,
  awardable: Awardable,
  page: PageRequest,
): Promise<Page<AwardWithUser>> {
  const awards = await selectPage(
    db,
    awardsOf(db, awardable),
    page,
    { by: 'id', sort: 'asc' },
    { id: 'award_emoji.id' },
  );
  return { ...awards, items: awards.items.map(withUser) };
}

/** The award; 404 when there is none. */
export async function findAward(db: Db, awardable: Awardable, id: number): Promise<AwardWithUser> {
  const award = await awardsOf(db, awardable).where('award_emoji.id', '=', id).executeTakeFirst();
  if (!award) throw notFound();
  return withUser(award);
}
