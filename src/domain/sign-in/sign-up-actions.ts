/** Registering an account, and confirming that its mail address is read. */
import { sql } from 'kysely';
import { acceptInvitations } from '../../core/access/invitations.ts';
import { announce } from '../../core/activity/announce.ts';
import { confirmationRequested, newConfirmation } from '../../core/identity/confirmation.ts';
import { isMailAddress, signUpMailProblem } from '../../core/identity/mail-rules.ts';
import { insertUser, newUserDefaults } from '../../core/identity/new-user.ts';
import { passwordProblems } from '../../core/identity/password-rules.ts';
import { endSession, openSession } from '../../core/identity/sessions.ts';
import { pathProblems } from '../../core/namespaces/paths.ts';
import type { Services } from '../../core/services.ts';
import type { ApplicationSettings } from '../../core/settings/definitions.ts';
import { now } from '../../platform/clock.ts';
import { type Db, inTransaction } from '../../platform/db/database.ts';
import { Failure } from '../../platform/failure.ts';
import { digest, hashPassword } from '../../platform/secret.ts';
import { userEntity } from './actions.ts';
import { refusal } from './rules.ts';

export type SignUpInput = { name: string; username: string; email: string; password: string };

export type SignUp =
  | { kind: 'signed_in'; token: string }
  /** The account is there, but cannot be used yet; the text says why. */
  | { kind: 'waiting'; text: string }
  | { kind: 'problems'; problems: readonly string[] };

/** Everything that is wrong with the form, as sentences. Pure. */
export function signUpProblems(input: SignUpInput, settings: ApplicationSettings): string[] {
  const { name, username, email, password } = input;
  const address = isMailAddress(email) ? signUpMailProblem(email, settings) : 'is invalid';
  const tooLong = [...name].length > 255;
  return [
    ...(name.trim() === '' ? ["Name can't be blank."] : []),
    ...(tooLong ? ['Name is too long (maximum is 255 characters).'] : []),
    ...pathProblems(username, 'top_level').map((text) => `Username ${text.replace(/\.$/, '')}.`),
    ...(address === undefined ? [] : [`Email ${address}.`]),
    ...passwordProblems(password, settings).map((text) => `Password ${text}.`),
  ];
}

async function takenProblems(tx: Db, input: SignUpInput): Promise<string[]> {
  const name = input.username.toLowerCase();
  const { rows } = await sql<{ username: boolean; email: boolean }>`
    select exists (select from users where lower(username) collate "C" = ${name})
        or exists (select from namespaces where lower(full_path) collate "C" = ${name}) as username,
      exists (select from emails where lower(email) collate "C" = ${input.email.toLowerCase()}) as email`.execute(
    tx,
  );
  const [taken] = rows;
  return [
    ...(taken?.username ? ['Username has already been taken.'] : []),
    ...(taken?.email ? ['Email has already been taken.'] : []),
  ];
}

/** Makes the account that the form describes, and signs it in where nothing is left to wait for. */
export async function signUp(
  services: Services,
  settings: ApplicationSettings,
  input: SignUpInput,
  oldToken: string | undefined,
): Promise<SignUp> {
  const problems = signUpProblems(input, settings);
  if (problems.length > 0) return { kind: 'problems', problems };
  const password_hash = await hashPassword(input.password);
  const time = now();
  const confirmed = settings.email_confirmation_setting === 'off';
  const { confirmation_digest, token_sealed } = newConfirmation(services.secretKey);
  const account = {
    state: settings.require_admin_approval_after_user_signup ? 'blocked_pending_approval' : 'active',
    confirmed_at: confirmed ? time : null,
    created_at: time,
  };
  const reason = refusal(account, settings, time);
  try {
    return await inTransaction(services.database.db, async (tx): Promise<SignUp> => {
      const taken = await takenProblems(tx, input);
      if (taken.length > 0) return { kind: 'problems', problems: taken };
      const { name, username, email } = input;
      const id = await insertUser(tx, {
        ...newUserDefaults(settings),
        name: name.trim(),
        username,
        email,
        password_hash,
        password_changed_at: time,
        state: account.state,
        confirmed_at: account.confirmed_at,
        confirmation_digest: confirmed ? null : confirmation_digest,
        ...(reason === undefined && {
          current_sign_in_at: time,
          last_activity_on: time.toISOString().slice(0, 10),
        }),
      });
      const user = { id, username, name };
      await announce(tx, {
        author: user,
        audit: {
          entity: userEntity(user),
          event: 'user_created',
          details: { add: 'user', target_id: id, target_type: 'User', target_details: name },
        },
        ...(!confirmed && { fact: confirmationRequested(id, email, token_sealed) }),
      });
      if (reason !== undefined) return { kind: 'waiting', text: reason };
      if (oldToken !== undefined) await endSession(tx, oldToken);
      return { kind: 'signed_in', token: await openSession(tx, id) };
    });
  } catch (error) {
    // Two forms with one name or address at once: the unique indexes let one pass.
    if (!(error instanceof Failure) || typeof error.publicMessage === 'string') throw error;
    return { kind: 'problems', problems: ['Username or email has already been taken.'] };
  }
}

/**
 * Confirms the address that the link's secret was sent to, primary, to become primary or another of the user's, and
 * lets its owner into what the address was invited to. False when the secret is unknown or used.
 */
export async function confirmAddress(db: Db, secret: string): Promise<boolean> {
  const confirmation_digest = digest(secret);
  const confirmed = { confirmed_at: now(), confirmation_digest: null };
  return inTransaction(db, async (tx) => {
    const user = await tx
      .selectFrom('users')
      .select(['id', 'username', 'name', 'email', 'unconfirmed_email'])
      .where('confirmation_digest', '=', confirmation_digest)
      .where('deletion', 'is', null)
      .forUpdate()
      .executeTakeFirst();
    const other = user
      ? undefined
      : await tx
          .updateTable('emails')
          .set({ ...confirmed, updated_at: now() })
          .where('confirmation_digest', '=', confirmation_digest)
          .returning(['user_id', 'email'])
          .executeTakeFirst();
    const owner = user ? { user_id: user.id, email: user.unconfirmed_email ?? user.email } : other;
    if (!owner) return false;
    if (user) {
      const { email } = owner;
      await tx
        .updateTable('users')
        .set({ ...confirmed, email, unconfirmed_email: null, updated_at: now() })
        .where('id', '=', user.id)
        .execute();
      await ownAddress(tx, user.id, email);
      const details = { change: 'email', to: email };
      await announce(tx, {
        author: user,
        audit: { entity: userEntity(user), event: 'email_confirmed', details },
      });
    }
    await acceptInvitations(tx, owner.user_id, owner.email);
    return true;
  });
}

/** Puts the address among the user's, confirmed. That another user has it meanwhile is refused by the unique index. */
async function ownAddress(tx: Db, userId: number, email: string): Promise<void> {
  const confirmed_at = now();
  const known = await tx
    .updateTable('emails')
    .set({ confirmed_at, confirmation_digest: null, updated_at: confirmed_at })
    .where('user_id', '=', userId)
    .where((eb) => eb(eb.fn('lower', ['email']), '=', email.toLowerCase()))
    .returning('id')
    .executeTakeFirst();
  if (known) return;
  await tx
    .insertInto('emails')
    .values({ user_id: userId, email, confirmed_at, created_at: confirmed_at, updated_at: confirmed_at })
    .execute();
}
