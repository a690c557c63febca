/** The second factor: codes of an app, each good once, and recovery codes for when the app is lost. */
import { sql } from 'kysely';
import type { Account } from '../../../kernel/identity/passwords/login.ts';
import { matchingStep } from '../../../kernel/identity/two-factor/totp.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { digest, randomHex, unseal } from '../../../platform/secret.ts';

const RECOVERY_CODES = 10;

/** Ten new recovery codes of 64 bits each. */
export const newRecoveryCodes = (): string[] => Array.from({ length: RECOVERY_CODES }, () => randomHex(8));

/** The digest that is stored of a recovery code, in whatever way it was typed. */
export const recoveryDigest = (code: string): Buffer => digest(code.replaceAll(/[\s-]/g, '').toLowerCase());

/** A key as it is sealed: as text. */
export const keyText = (key: Buffer): string => key.toString('base64url');
export const keyOf = (text: string): Buffer => Buffer.from(text, 'base64url');

/** Whether the code is one of the user's, and used now: sent twice, at once even, it works once. */
export async function isSecondFactor(
  db: Db,
  secretKey: string,
  account: Pick<Account, 'id' | 'otp_secret_sealed' | 'otp_last_step'>,
  code: string,
): Promise<boolean> {
  if (account.otp_secret_sealed === null) return false;
  const key = keyOf(unseal(secretKey, account.otp_secret_sealed));
  const step = matchingStep(key, code, now(), account.otp_last_step);
  return step === undefined ? useRecoveryCode(db, account.id, code) : useStep(db, account.id, step);
}

async function useStep(db: Db, userId: number, step: number): Promise<boolean> {
  const used = await db
    .updateTable('users')
    .set({ otp_last_step: step })
    .where('id', '=', userId)
    .where((eb) => eb.or([eb('otp_last_step', 'is', null), eb('otp_last_step', '<', step)]))
    .returning('id')
    .executeTakeFirst();
  return used !== undefined;
}

async function useRecoveryCode(db: Db, userId: number, code: string): Promise<boolean> {
  const given = recoveryDigest(code);
  const { rows } = await sql`
    update users set otp_recovery_digests = array_remove(otp_recovery_digests, ${given}::bytea)
    where id = ${userId} and ${given}::bytea = any(otp_recovery_digests) returning id`.execute(db);
  return rows.length === 1;
}
