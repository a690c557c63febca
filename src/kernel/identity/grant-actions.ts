/** Revokes OAuth grants: of accounts that are blocked or change their password, and of applications. */
import { type RawBuilder, sql } from 'kysely';
import { now } from '../../platform/clock.ts';
import { ahead, type Db } from '../../platform/db/database.ts';
import { announce } from '../activity/announce-actions.ts';

/** The grants of a user, or of one application (null: of none) among them; those by password; one grant. */
export type GrantChoice =
  | { userId: number; applicationId?: number | null }
  | { passwordOf: number }
  | { grantId: number };

/** The condition for grants and for devices, which become grants. */
function condition(choice: GrantChoice): RawBuilder<unknown> {
  if ('grantId' in choice) return sql`id = ${choice.grantId}`;
  if ('passwordOf' in choice) return sql`user_id = ${choice.passwordOf} and kind = 'password'`;
  const { userId, applicationId } = choice;
  return applicationId === undefined
    ? sql`user_id = ${userId}`
    : sql`user_id = ${userId} and application_id is not distinct from ${applicationId}::bigint`;
}

/** Revokes grants by `db`, the transaction or what sends ahead in it; returns the number as far as it is known then. */
async function revoke(tx: Db, db: Db, choice: GrantChoice): Promise<number> {
  const time = now();
  const which = condition(choice);
  if ('userId' in choice) await sql`delete from oauth_devices where ${which}`.execute(ahead(tx));
  const grants = await sql`
    update oauth_grants set revoked_at = ${time} where ${which} and revoked_at is null returning id`.execute(
    db,
  );
  // A second statement, since it sees tokens of a refresh that the first waited for.
  await sql`
    update access_tokens set revoked_at = ${time}, updated_at = ${time}
    where grant_id in (select id from oauth_grants where ${which} and revoked_at is not null) and revoked_at is null`.execute(
    ahead(tx),
  );
  return grants.rows.length;
}

/**
 * Revokes the grants and all their access tokens, in each process with the commit. Refresh tokens end with
 * their grant.
 */
export async function revokeGrants(tx: Db, choice: GrantChoice): Promise<void> {
  await revoke(tx, ahead(tx), choice);
}

/** The same; returns the number of grants. */
export const countRevokedGrants = (tx: Db, choice: GrantChoice): Promise<number> => revoke(tx, tx, choice);

/** Revokes a grant whose code or refresh token was replayed, with an audit event for its user. */
export async function revokeReplayed(tx: Db, grantId: number): Promise<void> {
  if ((await countRevokedGrants(tx, { grantId })) === 0) return;
  const grant = await tx
    .selectFrom('oauth_grants as g')
    .innerJoin('users as u', 'u.id', 'g.user_id')
    .leftJoin('oauth_applications as a', 'a.id', 'g.application_id')
    .select(['u.id as user_id', 'u.username', 'a.id as application_id', 'a.name'])
    .where('g.id', '=', grantId)
    .executeTakeFirst();
  if (!grant) return;
  const { user_id, username, application_id, name } = grant;
  await announce(tx, {
    audit: {
      entity: { type: 'User', id: user_id, path: username },
      event: 'oauth_authorization_revoked',
      details: {
        reason: 'a code or a refresh token that was used before was sent again',
        ...(application_id !== null && {
          target_id: application_id,
          target_type: 'OauthApplication',
          target_details: name,
        }),
      },
    },
  });
}
