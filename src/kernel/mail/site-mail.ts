/** The site's mailer and sender. */
import { isIP } from 'node:net';
import { join } from 'node:path';
import { createMailer, type Mailer } from '../../platform/mail/mailer.ts';
import type { Needs } from '../services.ts';
import { withMessages } from './mail-messages.ts';

/** The sender, and the host part of Message-IDs. Mail clients do not accept a bare IP address as host. */
export function mailSender({ baseUrl, config }: Needs<'config' | 'baseUrl'>): {
  from: string;
  host: string;
} {
  const { hostname } = new URL(baseUrl());
  const host = isIP(hostname.replaceAll(/[[\]]/g, '')) === 0 ? hostname : 'localhost';
  return { from: config.mailFrom ?? `ashlar@${host}`, host };
}

/** The configured mailer: to a server, or without one to files in the data folder. */
export function siteMailer(services: Needs<'config' | 'baseUrl' | 'instance'>): Mailer {
  const mailer = createMailer({
    smtpUrl: services.config.smtpUrl,
    folder: join(services.config.data, 'mail'),
    sender: () => mailSender(services),
  });
  return {
    send: async (mail) => mailer.send(withMessages(mail, (await services.instance.read()).appearance)),
  };
}
