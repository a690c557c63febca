/** Setting a new password by a link that was sent by mail. */
import { sql } from 'kysely';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import { passwordDisabledByGroup } from '../../../kernel/identity/passwords/enterprise-queries.ts';
import { userEntity } from '../../../kernel/identity/passwords/login-actions.ts';
import { noReset, oldestReset, requestReset } from '../../../kernel/identity/passwords/reset-actions.ts';
import { passwordProblems } from '../../../kernel/identity/passwords/rules.ts';
import { endAccess } from '../../../kernel/identity/session-actions.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { digest, hashPassword } from '../../../platform/secret.ts';
import { type Problem, problem } from '../forms/problems.ts';

/** The fact that an address was given for a link: whether an account has it is checked in the background. */
export const RESET_REQUESTED = 'password_reset_asked';

/** States of accounts that can use a password. */
const mayReset = ['active', 'deactivated'];

/**
 * Sends a link to the address when it is the primary or a confirmed one of an account that may sign in with a
 * password. The mail goes to the address as it is stored: the typed one may only look the same.
 */
export async function sendReset(
  services: Needs<'database' | 'settings' | 'secretKey'>,
  email: string,
): Promise<void> {
  const settings = await services.settings.read();
  if (!settings.password_authentication_enabled_for_web) return;
  await inTransaction(services.database.background, async (tx) => {
    const found = await tx
      .selectFrom('emails')
      .innerJoin('users', 'users.id', 'emails.user_id')
      .select(['users.id as userId', 'emails.email'])
      .where(sql<boolean>`lower(emails.email) collate "C" = ${email.toLowerCase()}`)
      .where((eb) =>
        eb.or([eb('emails.confirmed_at', 'is not', null), eb('emails.email', '=', eb.ref('users.email'))]),
      )
      .where('users.kind', '=', 'human')
      .where('users.deletion', 'is', null)
      .where('users.state', 'in', mayReset)
      .executeTakeFirst();
    if (!found || (await passwordDisabledByGroup(tx, found.userId))) return;
    await requestReset(tx, services.secretKey, found);
  });
}

type ResetUser = { id: number; username: string; name: string };

/** The user of a link; undefined when it was used, replaced, is too old, or passwords are off for the user. */
export async function findReset(db: Db, secret: string): Promise<ResetUser | undefined> {
  const user = await db
    .selectFrom('users')
    .select(['id', 'username', 'name'])
    .where('reset_digest', '=', digest(secret))
    .where('reset_sent_at', '>', oldestReset())
    .where('kind', '=', 'human')
    .where('deletion', 'is', null)
    .where('state', 'in', mayReset)
    .executeTakeFirst();
  return user && !(await passwordDisabledByGroup(db, user.id)) ? user : undefined;
}

export type Reset =
  | { kind: 'done'; userId: number }
  | { kind: 'stale' }
  | { kind: 'problems'; problems: readonly Problem[] };

/** The problems of a new password that was typed twice. */
export function newPasswordProblems(
  input: { password: string; confirmation: string },
  settings: ApplicationSettings,
): readonly Problem[] {
  return [
    ...passwordProblems(input.password, settings).flatMap((text) =>
      problem(`The new password ${text}.`, 'password'),
    ),
    ...(input.password === input.confirmation
      ? []
      : problem('The two entries of the new password differ.', 'password_confirmation')),
  ];
}

/**
 * Sets the password of the link's user, once. All their sessions and grants end, and a locked account is
 * unlocked: the reader of its mail is no guesser. It begins no session, so that a second factor is still
 * required.
 */
export async function resetPassword(
  services: Needs<'database'>,
  settings: ApplicationSettings,
  secret: string,
  input: { password: string; confirmation: string },
): Promise<Reset> {
  const { db } = services.database;
  const user = await findReset(db, secret);
  if (!user) return { kind: 'stale' };
  const problems = newPasswordProblems(input, settings);
  if (problems.length > 0) return { kind: 'problems', problems };
  const password_hash = await hashPassword(input.password);
  const time = now();
  return inTransaction(db, async (tx): Promise<Reset> => {
    const changed = await tx
      .updateTable('users')
      .set({
        password_hash,
        password_changed_at: time,
        failed_attempts: 0,
        locked_at: null,
        updated_at: time,
        ...noReset,
      })
      // On the row itself: of two at once, the second reads it again after the first has written it.
      .where('id', '=', user.id)
      .where('reset_digest', '=', digest(secret))
      .where('reset_sent_at', '>', oldestReset())
      .where('deletion', 'is', null)
      .where('state', 'in', mayReset)
      .returning('id')
      .executeTakeFirst();
    if (!changed) return { kind: 'stale' };
    await endAccess(tx, user.id);
    await announce(tx, { author: user, audit: { entity: userEntity(user), event: 'user_password_updated' } });
    return { kind: 'done', userId: user.id };
  });
}
