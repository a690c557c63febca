/** The texts of account mails. Pure. */
import { RESET_HOURS } from '../../../kernel/identity/passwords/reset-actions.ts';
import { type MailContent, texts } from './layout.ts';

type Recipient = { name: string; username: string };

const linkTo = (baseUrl: string, path: string, parameter: string, token: string): string =>
  `${baseUrl}${path}?${new URLSearchParams({ [parameter]: token })}`;

/** Asks the recipient to confirm the address. */
export const confirmationMail = (
  to: Recipient & { email: string },
  baseUrl: string,
  token: string,
): MailContent => ({
  subject: texts.say('confirmation.subject'),
  name: to.name,
  before: [texts.say('confirmation.before', to)],
  link: {
    label: texts.say('confirmation.link'),
    url: linkTo(baseUrl, '/users/confirmation', 'confirmation_token', token),
  },
  after: [texts.say('confirmation.after')],
});

/** Has the link that sets a new password. */
export const resetMail = (to: Recipient, baseUrl: string, token: string): MailContent => ({
  subject: texts.say('reset.subject'),
  name: to.name,
  before: [texts.say('reset.before', to)],
  link: {
    label: texts.say('reset.link'),
    url: linkTo(baseUrl, '/users/password/edit', 'reset_password_token', token),
  },
  after: [texts.say('reset.once', { hours: RESET_HOURS }), texts.say('notYou')],
});

/** Notifies the owner of an address of a registration with it. */
export const knownAddressMail = (to: Recipient & { email: string }, baseUrl: string): MailContent => ({
  subject: texts.say('knownAddress.subject'),
  name: to.name,
  before: [texts.say('knownAddress.before', to)],
  link: { label: texts.say('signIn'), url: `${baseUrl}/users/sign_in` },
  after: [texts.say('knownAddress.forgotten'), texts.say('knownAddress.after')],
});

/** Notifies the owner of an address of its addition to another account. */
export const addressAddedMail = (to: Recipient & { email: string }, baseUrl: string): MailContent => ({
  subject: texts.say('addressAdded.subject'),
  name: to.name,
  before: [texts.say('addressAdded.before', to)],
  link: { label: texts.say('signIn'), url: `${baseUrl}/users/sign_in` },
  after: [texts.say('addressAdded.elsewhere', to), texts.say('addressAdded.after')],
});

/** Shows an administrator that mails arrive. */
export const testMail = (to: Recipient, baseUrl: string): MailContent => ({
  subject: texts.say('test.subject'),
  name: to.name,
  before: [texts.say('test.before', { site: baseUrl })],
  link: { label: texts.say('test.link'), url: `${baseUrl}/admin/mail` },
  after: [],
});
