/**
 * Spam logs: author, time, address and user agent, the title and the beginning of the text, and the digest of
 * the request. Texts that pass are not logged.
 */
import { now } from '../../platform/clock.ts';
import { ahead, type Db } from '../../platform/db/database.ts';

type SpamFound = {
  userId: number;
  kind: 'Issue' | 'Snippet' | 'Note';
  title: string | undefined;
  text: string;
  address: string;
  userAgent: string | undefined;
  digest: Buffer;
};

const MAX_TITLE_LENGTH = 255;
const MAX_TEXT_LENGTH = 10_000;
const MAX_USER_AGENT_LENGTH = 500;

/** Time to solve a CAPTCHA, in milliseconds. */
const CAPTCHA_LIFETIME_MS = 3_600_000;
/** Retention in milliseconds: 90 days. */
const RETENTION_MS = 90 * 86_400_000;
const BATCH = 10_000;

const cut = (text: string, length: number): string => text.slice(0, length).toWellFormed();

/** Writes the row; returns its id, which a repeated request names. */
export async function writeSpamLog(db: Db, found: SpamFound): Promise<number> {
  const { id } = await db
    .insertInto('spam_logs')
    .values({
      user_id: found.userId,
      noteable_type: found.kind,
      title: found.title === undefined ? null : cut(found.title, MAX_TITLE_LENGTH),
      description: cut(found.text, MAX_TEXT_LENGTH),
      source_ip: found.address,
      user_agent: found.userAgent === undefined ? null : cut(found.userAgent, MAX_USER_AGENT_LENGTH),
      request_digest: found.digest,
      created_at: now(),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** Whether a solved CAPTCHA may still lift the row: of this user and this request, not lifted yet, and not too old. */
export async function awaitsCaptcha(db: Db, id: number, userId: number, digest: Buffer): Promise<boolean> {
  const row = await db
    .selectFrom('spam_logs')
    .select('id')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .where('request_digest', '=', digest)
    .where('recaptcha_verified', '=', false)
    .where('created_at', '>', new Date(now().getTime() - CAPTCHA_LIFETIME_MS))
    .executeTakeFirst();
  return row !== undefined;
}

/** Marks the row as verified, once: of two concurrent repetitions one gets true. */
export async function liftSpamLog(db: Db, id: number): Promise<boolean> {
  const lifted = await db
    .updateTable('spam_logs')
    .set({ recaptcha_verified: true })
    .where('id', '=', id)
    .where('recaptcha_verified', '=', false)
    .returning('id')
    .executeTakeFirst();
  return lifted !== undefined;
}

/** Deletes expired rows, in batches: the rest wait for the next run. */
export async function sweepSpamLogs(db: Db): Promise<void> {
  const old = db
    .selectFrom('spam_logs')
    .select('id')
    .where('created_at', '<', new Date(now().getTime() - RETENTION_MS))
    .orderBy('created_at')
    .limit(BATCH);
  await db.deleteFrom('spam_logs').where('id', 'in', old).execute();
}

/** Deletes the log of a deleted user. */
export async function forgetSpamLogs(tx: Db, userId: number): Promise<void> {
  await ahead(tx).deleteFrom('spam_logs').where('user_id', '=', userId).execute();
}
