/** The texts of account mails. Pure. */
import { RESET_HOURS } from '../../../kernel/identity/passwords/reset-actions.ts';
import type { MailContent } from './layout.ts';

type Recipient = { name: string; username: string };

const linkTo = (baseUrl: string, path: string, parameter: string, token: string): string =>
  `${baseUrl}${path}?${new URLSearchParams({ [parameter]: token })}`;

/** Asks the recipient to confirm the address. */
export const confirmationMail = (
  to: Recipient & { email: string },
  baseUrl: string,
  token: string,
): MailContent => ({
  subject: 'Confirm your email address',
  name: to.name,
  before: [`Somebody, most likely you, gave ${to.email} as an address of the account @${to.username}.`],
  link: {
    label: 'Confirm this address',
    url: linkTo(baseUrl, '/users/confirmation', 'confirmation_token', token),
  },
  after: ['If it was not you, do nothing: the address then counts for nobody.'],
});

/** Has the link that sets a new password. */
export const resetMail = (to: Recipient, baseUrl: string, token: string): MailContent => ({
  subject: 'Set a new password',
  name: to.name,
  before: [`Somebody, most likely you, asked for a new password of the account @${to.username}.`],
  link: {
    label: 'Set a new password',
    url: linkTo(baseUrl, '/users/password/edit', 'reset_password_token', token),
  },
  after: [
    `The link works once, within ${RESET_HOURS} hours. Your password stays as it is until you follow it.`,
    'If it was not you, do nothing.',
  ],
});

/** Notifies the owner of an address of a registration with it. */
export const knownAddressMail = (to: Recipient & { email: string }, baseUrl: string): MailContent => ({
  subject: 'You have an account already',
  name: to.name,
  before: [
    `Somebody, perhaps you, registered with ${to.email}. It is an address of the account @${to.username}, so no other was made.`,
  ],
  link: { label: 'Sign in', url: `${baseUrl}/users/sign_in` },
  after: [
    'If you forgot your password, the page for signing in leads to a new one.',
    'If it was not you, do nothing: whoever it was has not been told.',
  ],
});

/** Notifies the owner of an address of its addition to another account. */
export const addressAddedMail = (to: Recipient & { email: string }, baseUrl: string): MailContent => ({
  subject: 'Your address was added to another account',
  name: to.name,
  before: [
    `Somebody, perhaps you, added ${to.email} to another account. It is an address of the account @${to.username}, and stays its alone: it cannot be confirmed elsewhere.`,
  ],
  link: { label: 'Sign in', url: `${baseUrl}/users/sign_in` },
  after: [
    `To use it elsewhere, remove it from @${to.username} and from the other account, and add it there again.`,
    'If it was not you, do nothing: the other account has not been told whose it is.',
  ],
});
