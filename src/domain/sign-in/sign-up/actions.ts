/** Registering an account. */
import { sql } from 'kysely';
import { releaseUnconfirmed } from '../../../kernel/access/unconfirmed-address-actions.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import {
  confirmationRequested,
  KNOWN_ADDRESS_REGISTERED,
  newConfirmation,
} from '../../../kernel/identity/addresses/confirmation.ts';
import { isMailAddress, signUpMailProblem } from '../../../kernel/identity/addresses/rules.ts';
import { userEntity } from '../../../kernel/identity/passwords/login-actions.ts';
import { refusal } from '../../../kernel/identity/passwords/login-rules.ts';
import { passwordProblems } from '../../../kernel/identity/passwords/rules.ts';
import { endSession, openSession, type SessionOrigin } from '../../../kernel/identity/session-actions.ts';
import { pathProblems } from '../../../kernel/namespaces/paths.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { insertUser, newUserDefaults } from '../../../kernel/users/new-user-actions.ts';
import { hasMoreCharacters } from '../../../platform/characters.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { violatedIndex } from '../../../platform/db/errors.ts';
import { hashPassword } from '../../../platform/secret.ts';
import { type Problem, problem } from '../forms/problems.ts';

export type SignUpInput = { name: string; username: string; email: string; password: string };

export type SignUp =
  | { kind: 'signed_in'; token: string }
  /** The account exists, but cannot be used yet; the text gives the reason. */
  | { kind: 'waiting'; text: string }
  | { kind: 'problems'; problems: readonly Problem[] };

/** All problems of the form. Pure. */
export function signUpProblems(input: SignUpInput, settings: ApplicationSettings): Problem[] {
  const { name, username, email, password } = input;
  const address = isMailAddress(email) ? signUpMailProblem(email, settings) : 'is invalid';
  const tooLong = hasMoreCharacters(name, 255);
  return [
    ...(name.trim() === '' ? problem("Name can't be blank.", 'name') : []),
    ...(tooLong ? problem('Name is too long (maximum is 255 characters).', 'name') : []),
    ...pathProblems(username, 'top_level').flatMap((text) =>
      problem(`Username ${text.replace(/\.$/, '')}.`, 'username'),
    ),
    ...(address === undefined ? [] : problem(`Email ${address}.`, 'email')),
    ...passwordProblems(password, settings).flatMap((text) => problem(`Password ${text}.`, 'password')),
  ];
}

/** Whether the name is taken, and the owner of the address. */
async function selectTaken(
  tx: Db,
  input: SignUpInput,
): Promise<{ username: boolean; owner: number | null } | undefined> {
  const name = input.username.toLowerCase();
  const { rows } = await sql<{ username: boolean; owner: number | null }>`
    select exists (select from users where lower(username) collate "C" = ${name})
        or exists (select from namespaces where lower(full_path) collate "C" = ${name}) as username,
      (select u.id from emails e join users u on u.id = e.user_id
        where lower(e.email) collate "C" = ${input.email.toLowerCase()}
          and (e.confirmed_at is not null or lower(u.email) = lower(e.email)) limit 1) as owner`.execute(tx);
  return rows[0];
}

/** Makes the account of the form, and signs it in unless it must wait. */
export async function signUp(
  services: Needs<'database' | 'secretKey'>,
  settings: ApplicationSettings,
  input: SignUpInput,
  browser: { origin: SessionOrigin; oldToken: string | undefined },
  again = false,
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
      const taken = await selectTaken(tx, input);
      if (taken?.username)
        return { kind: 'problems', problems: problem('Username has already been taken.', 'username') };
      const { name, username, email } = input;
      // Also where there is an owner: a user who added the address unconfirmed, and kept it, would learn
      // that.
      await releaseUnconfirmed(tx, undefined, email);
      if (taken?.owner != null) return await meetOwner(tx, input, taken.owner, reason);
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
      // The address was not confirmed: it opens the account, and no invitation.
      if (confirmed)
        await ahead(tx).updateTable('emails').set({ confirmed_at: null }).where('user_id', '=', id).execute();
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
      if (browser.oldToken !== undefined) await endSession(tx, browser.oldToken);
      return { kind: 'signed_in', token: await openSession(tx, id, browser.origin) };
    });
  } catch (error) {
    // Two forms with one name or address at once: the unique indexes accept one, and the other finds it then.
    const index = violatedIndex(error);
    if (index === undefined) throw error;
    if (index === 'emails_holder' && !again) return signUp(services, settings, input, browser, true);
    return {
      kind: 'problems',
      problems: problem('Username or email has already been taken.', 'username', 'email'),
    };
  }
}

/**
 * The address has an owner. Where a new account would have to wait, the response is the one that it would
 * get, and a mail notifies the owner; where it would be signed in at once no response could hide that there
 * is none.
 */
async function meetOwner(
  tx: Db,
  { email }: SignUpInput,
  ownerId: number,
  reason: string | undefined,
): Promise<SignUp> {
  if (reason === undefined)
    return { kind: 'problems', problems: problem('Email has already been taken.', 'email') };
  const fact = { name: KNOWN_ADDRESS_REGISTERED, payload: { user_id: ownerId, email } };
  await announce(tx, { fact });
  return { kind: 'waiting', text: reason };
}
