/** The recipients of mails about an account: neither deleted nor blocked. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';

export const selectRecipient = (db: Db, userId: number) =>
  db
    .selectFrom('users')
    .select(['username', 'name'])
    .where('id', '=', userId)
    .where('deletion', 'is', null)
    .where('state', 'not in', ['blocked', 'banned'])
    .executeTakeFirst();

/** The user, if this address is still theirs. */
export const selectOwnerOf = (db: Db, userId: number, email: string) =>
  db
    .selectFrom('users')
    .innerJoin('emails', 'emails.user_id', 'users.id')
    .select(['username', 'name', 'emails.email'])
    .where('users.id', '=', userId)
    .where('deletion', 'is', null)
    .where('state', 'not in', ['blocked', 'banned'])
    .where(({ fn }) => sql<boolean>`${fn('lower', ['emails.email'])} = ${email.toLowerCase()}`)
    .executeTakeFirst();
