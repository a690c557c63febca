/**
 * A bot sees no more than the person who holds its token: an external user's bots are external, from their first day, when
 * somebody external rotates the token, and when the holder becomes external later.
 */
import { sql } from 'kysely';
import type { Db } from '../../platform/db/database.ts';

/** Whether the user is external, and stays so until the transaction ends: a change of it waits, and finds the new bot. */
export async function lockExternal(tx: Db, userId: number): Promise<boolean> {
  const user = await tx
    .selectFrom('users')
    .select('external')
    .where('id', '=', userId)
    .forShare()
    .executeTakeFirst();
  // A holder who went meanwhile cannot be asked: the bot gets no more than anybody.
  return user?.external ?? true;
}

/** The bot's token has a new holder: an external one makes the bot external. */
export async function handBotOver(tx: Db, botId: number, holderId: number): Promise<void> {
  if (!(await lockExternal(tx, holderId))) return;
  await tx.updateTable('users').set({ external: true }).where('id', '=', botId).execute();
}

/** Makes the bots whose tokens the user holds what the user is now. */
export async function passExternalOn(tx: Db, holderId: number, external: boolean): Promise<void> {
  await sql`
    update users set external = ${external}
    where kind in ('project_bot', 'group_bot') and external <> ${external} and id in (
      select user_id from access_tokens
      where created_by_id = ${holderId} and kind in ('project', 'group') and revoked_at is null)`.execute(tx);
}
