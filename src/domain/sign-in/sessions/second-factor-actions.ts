/** Checks and uses a second factor: each code counts once. */

import { sql } from 'kysely';
import type { Account } from '../../../kernel/identity/passwords/login-actions.ts';
import { matchingStep } from '../../../kernel/identity/two-factor/totp.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { unseal } from '../../../platform/secret.ts';
import { keyOf, recoveryDigest } from './second-factor.ts';

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
