/** Statements of mails about commits. */
import type { RawBuilder } from 'kysely';
import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';

/** The user with a confirmed address like the one in a commit. */
export async function accountOf(db: Db, address: string): Promise<number | undefined> {
  const found = await db
    .selectFrom('emails')
    .select('user_id')
    .where(sql<boolean>`lower(email) collate "C" = ${address.toLowerCase()}`)
    .where('confirmed_at', 'is not', null)
    .executeTakeFirst();
  return found?.user_id;
}

export const selectStorage = (db: Db, projectId: number) =>
  db.selectFrom('projects').select('repository_storage').where('id', '=', projectId).executeTakeFirst();

/** The users who wrote notes on the commit. */
export const commitParticipants = (projectId: number | null, sha: string): RawBuilder<unknown> =>
  sql`select author_id as user_id from notes
    where project_id = ${projectId} and commit_sha = ${sha} and system_action is null`;
