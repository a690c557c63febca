/** Asking for a mail by an address, in a way that does not tell whether the address is anybody's. */
import { isMailAddress } from '../../core/identity/mail-rules.ts';
import type { Services } from '../../core/services.ts';
import { inTransaction } from '../../platform/db/database.ts';
import { writeFact } from '../../platform/outbox/outbox.ts';
import { digest } from '../../platform/secret.ts';

/** Mails that an address may be sent of one kind, asked for by whomever. */
const MAILS_PER_HOUR = { limit: 5, periodSeconds: 3_600 };

/**
 * Writes down that a mail to the address was asked for. What is done, and how long it takes, is the same whether the
 * address is known here or not; more than a few an hour are dropped without a word.
 */
export async function askByMail(services: Services, fact: string, typed: string): Promise<void> {
  const email = typed.trim();
  if (!isMailAddress(email)) return;
  const key = `${fact}:${digest(email.toLowerCase()).toString('hex')}`;
  const { allowed } = await services.limiter.take(key, MAILS_PER_HOUR);
  if (allowed) await inTransaction(services.database.db, (tx) => writeFact(tx, fact, { email }));
}
