/** The site's mail: who sends it, and the mailer that does. */
import { isIP } from 'node:net';
import { join } from 'node:path';
import { createMailer, type Mailer } from '../platform/mail/mailer.ts';
import type { Services } from './services.ts';

/** Who sends, and the part of each Message-ID after the @. Mail programs accept no bare address for a host. */
export function mailSender({ baseUrl, config }: Pick<Services, 'baseUrl' | 'config'>): {
  from: string;
  host: string;
} {
  const { hostname } = new URL(baseUrl());
  const host = isIP(hostname.replaceAll(/[[\]]/g, '')) === 0 ? hostname : 'localhost';
  return { from: config.mailFrom ?? `ashlar@${host}`, host };
}

/** What sends as the configuration says: to a server, or without one to files in the data folder. */
export const siteMailer = (services: Services): Mailer =>
  createMailer({
    smtpUrl: services.config.smtpUrl,
    folder: join(services.config.data, 'mail'),
    sender: () => mailSender(services),
  });
