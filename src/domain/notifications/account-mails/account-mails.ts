/** Mails about accounts. Each task checks that its request is still current. */

import { isConfirmationOf } from '../../../kernel/identity/addresses/queries.ts';
import { isResetOf } from '../../../kernel/identity/passwords/reset-actions.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Task } from '../../../platform/jobs/jobs.ts';
import type { Mailer } from '../../../platform/mail/mailer.ts';
import { unseal } from '../../../platform/secret.ts';
import { composeMail, type MailContent } from './layout.ts';
import { addressAddedMail, confirmationMail, knownAddressMail, resetMail } from './mails.ts';
import { selectOwnerOf, selectRecipient } from './queries.ts';

/** The payload of both facts, with the fact's number. */
type MailRequest = { user_id: number; email: string; token_sealed: string; fact_id: number };

type Recipient = { username: string; name: string; email: string };

type AccountMail = {
  /** With the fact's number part of the mail's id, which is the same at each attempt. */
  name: string;
  isCurrent: typeof isResetOf;
  write(to: Recipient, baseUrl: string, token: string): MailContent;
};

const confirmation: AccountMail = {
  name: 'confirmation',
  isCurrent: isConfirmationOf,
  write: confirmationMail,
};
const passwordReset: AccountMail = { name: 'password-reset', isCurrent: isResetOf, write: resetMail };

function mailTask(
  services: Needs<'database' | 'secretKey' | 'baseUrl'>,
  mailer: Mailer,
  mail: AccountMail,
): Task {
  const db = services.database.background;
  return async (payload) => {
    // The payload is written by one of two functions in kernel/identity.
    const request = payload as MailRequest;
    const token = unseal(services.secretKey, request.token_sealed);
    const user = await selectRecipient(db, request.user_id);
    if (!user || !(await mail.isCurrent(db, request.user_id, token))) return;
    const baseUrl = services.baseUrl();
    const letter = mail.write({ ...user, email: request.email }, baseUrl, token);
    const id = `${mail.name}-${request.fact_id}-${request.user_id}`;
    await mailer.send({ id, to: request.email, ...composeMail(letter, baseUrl) });
  };
}

/** The task that sends a link to confirm an address. */
export const confirmationTask = (
  services: Needs<'database' | 'secretKey' | 'baseUrl'>,
  mailer: Mailer,
): Task => mailTask(services, mailer, confirmation);

/** The task that sends a link to set a new password. */
export const passwordResetTask = (
  services: Needs<'database' | 'secretKey' | 'baseUrl'>,
  mailer: Mailer,
): Task => mailTask(services, mailer, passwordReset);

/** A task that notifies the owner of an address of its use by another account. */
const knownAddressTask = (
  services: Needs<'database' | 'baseUrl'>,
  mailer: Mailer,
  write: typeof knownAddressMail,
): Task => {
  const db = services.database.background;
  return async (payload) => {
    // Written by registration and by additions of addresses.
    const { user_id, email, fact_id } = payload as Omit<MailRequest, 'token_sealed'>;
    const user = await selectOwnerOf(db, user_id, email);
    if (!user) return;
    const baseUrl = services.baseUrl();
    const id = `known-address-${fact_id}-${user_id}`;
    await mailer.send({ id, to: user.email, ...composeMail(write(user, baseUrl), baseUrl) });
  };
};

/** The task that notifies the owner of an address of a registration with it. */
export const addressRegisteredTask = (services: Needs<'database' | 'baseUrl'>, mailer: Mailer): Task =>
  knownAddressTask(services, mailer, knownAddressMail);

/** The task that notifies the owner of an address of its addition to another account. */
export const addressAddedTask = (services: Needs<'database' | 'baseUrl'>, mailer: Mailer): Task =>
  knownAddressTask(services, mailer, addressAddedMail);
