/** Requests for a mail by an address, which do not disclose whether an account has the address. */

import { announce } from '../../../kernel/activity/announce-actions.ts';
import { isMailAddress } from '../../../kernel/identity/addresses/rules.ts';
import type { Needs } from '../../../kernel/services.ts';
import { digest } from '../../../platform/secret.ts';

/** Mails of one kind that may be sent to an address, for all callers. */
const MAILS_PER_HOUR = { limit: 5, periodSeconds: 3_600 };

/**
 * Records a request for a mail to the address. The work, and its duration, is the same whether an account has
 * the address or not; more than a few an hour are dropped silently.
 */
export async function askByMail(
  services: Needs<'database' | 'limiter'>,
  fact: string,
  typed: string,
): Promise<void> {
  const email = typed.trim();
  if (!isMailAddress(email)) return;
  const key = `${fact}:${digest(email.toLowerCase()).toString('hex')}`;
  const { allowed } = await services.limiter.take(key, MAILS_PER_HOUR);
  if (allowed) await announce(services.database.db, { fact: { name: fact, payload: { email } } });
}
