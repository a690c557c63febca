/** Award emoji: given, removed, and the two counts that issues and epics show. */
import { type Selectable, sql } from 'kysely';
import { userBasicJson } from '../../../kernel/users/queries.ts';
import type { UserBasicRow } from '../../../kernel/users/records.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db } from '../../../platform/db/database.ts';
import type { AwardEmojiTable } from '../../../platform/db/rows.ts';
import type { Awardable } from './awards.ts';
import type { NoteableKind } from './noteables.ts';

export type AwardRow = Selectable<AwardEmojiTable>;

/** An award with its user. */
export type AwardWithUser = AwardRow & { user: UserBasicRow };

export const userOfAward = sql.raw<UserBasicRow>(userBasicJson('award_emoji.user_id')).as('user');

const counted = { thumbsup: 'upvotes', thumbsdown: 'downvotes' } as const;

async function count(
  tx: Db,
  { countedIn, id }: Awardable,
  { name }: Pick<AwardRow, 'name'>,
  difference: 1 | -1,
): Promise<void> {
  const column = name === 'thumbsup' || name === 'thumbsdown' ? counted[name] : undefined;
  if (column === undefined || countedIn === undefined) return;
  await sql`update ${sql.table(countedIn)} set ${sql.ref(column)} = greatest(${sql.ref(column)} + ${difference}::integer, 0)
    where id = ${id}`.execute(ahead(tx));
}

/** The new award; undefined when the user has given the same before. Call it inside a transaction. */
export async function giveAward(
  tx: Db,
  awardable: Awardable,
  userId: number,
  name: string,
): Promise<AwardWithUser | undefined> {
  const { column, id } = awardable;
  const time = now();
  const award = await tx
    .insertInto('award_emoji')
    .values({ name, user_id: userId, [column]: id, created_at: time, updated_at: time })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .returning(userOfAward)
    .executeTakeFirst();
  if (award) await count(tx, awardable, award, 1);
  return award;
}

/** Removes the award and returns it; undefined when it is gone already. Call it inside a transaction. */
export async function takeAward(
  tx: Db,
  awardable: Awardable,
  awardId: number,
): Promise<AwardRow | undefined> {
  const award = await tx
    .deleteFrom('award_emoji')
    .where('id', '=', awardId)
    .returningAll()
    .executeTakeFirst();
  if (award) await count(tx, awardable, award, -1);
  return award;
}

/** What was given or taken back. */
export type AwardChange = { event: 'award_given' | 'award_taken'; award: AwardRow };

/** Gives the award, or removes the user's own. Call it inside a transaction. */
export async function toggleAward(
  tx: Db,
  awardable: Awardable,
  userId: number,
  name: string,
): Promise<AwardChange | undefined> {
  const given = await giveAward(tx, awardable, userId, name);
  if (given) return { event: 'award_given', award: given };
  const award = await tx
    .selectFrom('award_emoji')
    .select('id')
    .where(awardable.column, '=', awardable.id)
    .where('user_id', '=', userId)
    .where('name', '=', name)
    .executeTakeFirst();
  const taken = award && (await takeAward(tx, awardable, award.id));
  return taken && { event: 'award_taken', award: taken };
}

/** Removes all awards of a user who is being deleted. */
export async function takeAwardsOf(tx: Db, kinds: readonly NoteableKind[], userId: number): Promise<void> {
  for (const { countedIn, awardColumn } of kinds) {
    if (countedIn === undefined || awardColumn === undefined) continue;
    for (const [name, column] of Object.entries(counted))
      await sql`update ${sql.table(countedIn)} t set ${sql.ref(column)} = greatest(${sql.ref(column)} - 1, 0)
        from award_emoji a where a.user_id = ${userId} and a.name = ${name} and a.${sql.ref(awardColumn)} = t.id`.execute(
        tx,
      );
  }
  await tx.deleteFrom('award_emoji').where('user_id', '=', userId).execute();
}
