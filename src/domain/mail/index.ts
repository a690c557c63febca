/** Mail: what is announced and concerns somebody who is not looking becomes a letter, sent at least once. */
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { Capability } from '../../core/capability.ts';
import { CONFIRMATION_REQUESTED } from '../../core/identity/confirmation.ts';
import { PASSWORD_RESET_REQUESTED } from '../../core/identity/password-reset.ts';
import type { Services } from '../../core/services.ts';
import { createMailer } from '../../platform/mail/mailer.ts';
import { confirmationTask, passwordResetTask } from './account-mails.ts';

/** Who sends, for a site at the base URL. Mail programs accept no bare address for a host. */
function senderOf(baseUrl: string, mailFrom: string | undefined): { from: string; host: string } {
  const { hostname } = new URL(baseUrl);
  const host = isIP(hostname.replaceAll(/[[\]]/g, '')) === 0 ? hostname : 'localhost';
  return { from: mailFrom ?? `ashlar@${host}`, host };
}

const CONFIRMATION = 'mail.confirmation';
const PASSWORD_RESET = 'mail.password_reset';

export function mailCapability(services: Services): Capability {
  const { smtpUrl, mailFrom, data } = services.config;
  const sender = () => senderOf(services.baseUrl(), mailFrom);
  const mailer = createMailer({ smtpUrl, folder: join(data, 'mail'), sender });
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
