/** Mail: what is announced and concerns somebody who is not looking becomes a letter, sent at least once. */
import type { Capability } from '../../core/capability.ts';
import { CONFIRMATION_REQUESTED } from '../../core/identity/confirmation.ts';
import { PASSWORD_RESET_REQUESTED } from '../../core/identity/password-reset.ts';
import type { Services } from '../../core/services.ts';
import { siteMailer } from '../../core/site-mail.ts';
import { confirmationTask, passwordResetTask } from './account-mails.ts';

const CONFIRMATION = 'mail.confirmation';
const PASSWORD_RESET = 'mail.password_reset';

export function mailCapability(services: Services): Capability {
  const mailer = siteMailer(services);
  return {
    name: 'mail',
    endpoints: [],
    tasks: {
      [CONFIRMATION]: confirmationTask(services, mailer),
      [PASSWORD_RESET]: passwordResetTask(services, mailer),
    },
    listeners: [
      { fact: CONFIRMATION_REQUESTED, task: CONFIRMATION },
      { fact: PASSWORD_RESET_REQUESTED, task: PASSWORD_RESET },
    ],
    tables: [],
  };
}
