/** Statements behind the consent page: the user's earlier approvals, and the conditions of a new one. */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { digest } from '../../../platform/secret.ts';
import { OUT_OF_BAND } from './rules.ts';

/** Whether the user has confirmed their mail address. */
export async function isConfirmed(db: Db, userId: number): Promise<boolean> {
  const user = await db
    .selectFrom('users')
    .select('id')
    .where('id', '=', userId)
    .where('confirmed_at', 'is not', null)
    .executeTakeFirst();
  return user !== undefined;
}

/** Whether the user approved all of the scopes at once, for this application, by a grant that is still alive. */
export async function isApprovedBefore(
  db: Db,
  userId: number,
  applicationId: number,
  scopes: readonly string[],
): Promise<boolean> {
  const grant = await db
    .selectFrom('oauth_grants')
    .select('id')
    .where('application_id', '=', applicationId)
    .where('user_id', '=', userId)
    .where('kind', 'in', ['authorization_code', 'device_code'])
    .where('revoked_at', 'is', null)
    // A code that was never redeemed is no approval.
    .where((eb) => eb.or([eb('code_digest', 'is', null), eb('code_used_at', 'is not', null)]))
    .where(sql<boolean>`scopes @> ${[...scopes]}::text[]`)
    .limit(1)
    .executeTakeFirst();
  return grant !== undefined;
}

/**
 * Whether session and application still exist. They and the user are locked: their end comes before or after
 * the grant, never between.
 */
export async function lockApproval(tx: Db, sessionToken: string, applicationId: number): Promise<boolean> {
  const session = await tx
    .selectFrom('users as u')
    .innerJoin('sessions as s', 's.user_id', 'u.id')
    .select('u.id')
    .where('s.digest', '=', digest(sessionToken))
    .where('u.state', '=', 'active')
    .where('u.deletion', 'is', null)
    .forShare()
    .executeTakeFirst();
  if (!session) return false;
  const application = await tx
    .selectFrom('oauth_applications')
    .select('id')
    .where('id', '=', applicationId)
    .forShare()
    .executeTakeFirst();
  return application !== undefined;
}

/** Whether the code is the user's own, to be shown on a page, and can still be redeemed. */
export async function isOpenCode(db: Db, userId: number, code: string): Promise<boolean> {
  const grant = await db
    .selectFrom('oauth_grants')
    .select('id')
    .where('code_digest', '=', digest(code))
    .where('user_id', '=', userId)
    .where('redirect_uri', '=', OUT_OF_BAND)
    .where('code_used_at', 'is', null)
    .where('code_expires_at', '>', now())
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return grant !== undefined;
}
