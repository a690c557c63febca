/**
 * A bot sees no more than the holder of its token: bots of external users are external from their creation,
 * after a rotation by an external user, and when the holder becomes external later.
 */
import { type RawBuilder, sql } from 'kysely';
import { ahead, type Db } from '../../platform/db/database.ts';

/**
 * Whether the user is external, locked until the transaction ends: a later change finds the new bot. Without its holder
 * the bot gets no more than an external user.
 */
export const lockedExternal = (userId: number): RawBuilder<boolean> =>
  sql`coalesce((select h.external from users h where h.id = ${userId} for share), true)`;

/** The bot's token has a new holder: an external one makes the bot external. */
export async function handBotOver(tx: Db, botId: number, holderId: number): Promise<void> {
  await ahead(tx)
    .updateTable('users')
    .set({ external: true })
    .where('id', '=', botId)
    .where(lockedExternal(holderId))
    .execute();
}

/** Sets `external` of the bots whose tokens the user holds. */
export async function passExternalOn(tx: Db, holderId: number, external: boolean): Promise<void> {
  await sql`
    update users set external = ${external}
    where kind in ('project_bot', 'group_bot') and external <> ${external} and id in (
      select user_id from access_tokens
      where created_by_id = ${holderId} and kind in ('project', 'group') and revoked_at is null)`.execute(
    ahead(tx),
  );
}
