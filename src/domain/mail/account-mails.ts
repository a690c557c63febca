/** Mails that are asked for about accounts. Each looks again at what it speaks of: meanwhile that may be out of date. */
import { sql } from 'kysely';
import { isConfirmationOf } from '../../core/identity/confirmation.ts';
import { isResetOf } from '../../core/identity/password-reset.ts';
import type { Services } from '../../core/services.ts';
import type { Task } from '../../platform/jobs/jobs.ts';
import type { Mailer } from '../../platform/mail/mailer.ts';
import { unseal } from '../../platform/secret.ts';
import { type Letter, writeLetter } from './layout.ts';
import { addressAddedLetter, confirmationLetter, knownAddressLetter, resetLetter } from './letters.ts';

/** What both facts say, and the number of the fact. */
type Asked = { user_id: number; email: string; token_sealed: string; fact_id: number };

type Recipient = { username: string; name: string; email: string };

type AccountMail = {
  /** Names the mail beside the number of its fact, which stays the same however often it is tried. */
  name: string;
  isCurrent: typeof isResetOf;
  write(to: Recipient, baseUrl: string, token: string): Letter;
};

const confirmationMail: AccountMail = {
  name: 'confirmation',
  isCurrent: isConfirmationOf,
  write: confirmationLetter,
};
const resetMail: AccountMail = { name: 'password-reset', isCurrent: isResetOf, write: resetLetter };

function mailTask(services: Services, mailer: Mailer, mail: AccountMail): Task {
  const db = services.database.background;
  return async (payload) => {
    // Written by one of the two makers of the fact in core/identity.
    const asked = payload as Asked;
    const token = unseal(services.secretKey, asked.token_sealed);
    const user = await db
      .selectFrom('users')
      .select(['username', 'name'])
      .where('id', '=', asked.user_id)
      .where('deletion', 'is', null)
      .where('state', 'not in', ['blocked', 'banned'])
      .executeTakeFirst();
    if (!user || !(await mail.isCurrent(db, asked.user_id, token))) return;
    const baseUrl = services.baseUrl();
    const letter = mail.write({ ...user, email: asked.email }, baseUrl, token);
    const id = `${mail.name}-${asked.fact_id}-${asked.user_id}`;
    await mailer.send({ id, to: asked.email, ...writeLetter(letter, baseUrl) });
  };
}

/** The task that sends a link to confirm an address. */
export const confirmationTask = (services: Services, mailer: Mailer): Task =>
  mailTask(services, mailer, confirmationMail);

/** The task that sends a link to set a new password. */
export const passwordResetTask = (services: Services, mailer: Mailer): Task =>
  mailTask(services, mailer, resetMail);

/** A task that tells the owner of an address what another did with it. */
const knownAddressTask = (services: Services, mailer: Mailer, write: typeof knownAddressLetter): Task => {
  const db = services.database.background;
  return async (payload) => {
    // Written by registration, and where addresses are added.
    const { user_id, email, fact_id } = payload as Omit<Asked, 'token_sealed'>;
    const user = await db
      .selectFrom('users')
      .innerJoin('emails', 'emails.user_id', 'users.id')
      .select(['username', 'name', 'emails.email'])
      .where('users.id', '=', user_id)
      .where('deletion', 'is', null)
      .where('state', 'not in', ['blocked', 'banned'])
      .where(({ fn }) => sql<boolean>`${fn('lower', ['emails.email'])} = ${email.toLowerCase()}`)
      .executeTakeFirst();
    if (!user) return;
    const baseUrl = services.baseUrl();
    const id = `known-address-${fact_id}-${user_id}`;
    await mailer.send({ id, to: user.email, ...writeLetter(write(user, baseUrl), baseUrl) });
  };
};

/** The task that tells the owner of an address of a registration with it. */
export const addressRegisteredTask = (services: Services, mailer: Mailer): Task =>
  knownAddressTask(services, mailer, knownAddressLetter);

/** The task that tells the owner of an address that another account added it. */
export const addressAddedTask = (services: Services, mailer: Mailer): Task =>
  knownAddressTask(services, mailer, addressAddedLetter);
