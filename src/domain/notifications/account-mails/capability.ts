/** Account mail: facts about accounts become mails, each sent at least once. */
import type { Capability } from '../../../kernel/capability.ts';
import {
  CONFIRMATION_REQUESTED,
  KNOWN_ADDRESS_ADDED,
  KNOWN_ADDRESS_REGISTERED,
} from '../../../kernel/identity/addresses/confirmation.ts';
import { PASSWORD_RESET_REQUESTED } from '../../../kernel/identity/passwords/reset-actions.ts';
import { siteMailer } from '../../../kernel/mail/site-mail.ts';
import type { Needs } from '../../../kernel/services.ts';
import {
  addressAddedTask,
  addressRegisteredTask,
  confirmationTask,
  passwordResetTask,
} from './account-mails.ts';

const CONFIRMATION = 'mail.confirmation';
const PASSWORD_RESET = 'mail.password_reset';
const KNOWN_ADDRESS = 'mail.known_address';
const ADDRESS_ADDED = 'mail.address_added';

export function mailCapability(
  services: Needs<'config' | 'database' | 'instance' | 'secretKey' | 'baseUrl'>,
): Capability {
  const mailer = siteMailer(services);
  return {
    name: 'mail',
    endpoints: [],
    tasks: {
      [CONFIRMATION]: confirmationTask(services, mailer),
      [PASSWORD_RESET]: passwordResetTask(services, mailer),
      [KNOWN_ADDRESS]: addressRegisteredTask(services, mailer),
      [ADDRESS_ADDED]: addressAddedTask(services, mailer),
    },
    listeners: [
      { fact: CONFIRMATION_REQUESTED, task: CONFIRMATION },
      { fact: PASSWORD_RESET_REQUESTED, task: PASSWORD_RESET },
      { fact: KNOWN_ADDRESS_REGISTERED, task: KNOWN_ADDRESS },
      { fact: KNOWN_ADDRESS_ADDED, task: ADDRESS_ADDED },
    ],
    tables: [],
  };
}
