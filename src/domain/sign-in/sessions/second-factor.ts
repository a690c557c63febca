/** The second factor: codes of an app, each good once, and recovery codes for when the app is lost. */
import { digest, randomHex } from '../../../platform/secret.ts';

const RECOVERY_CODES = 10;

/** Ten new recovery codes of 64 bits each. */
export const newRecoveryCodes = (): string[] => Array.from({ length: RECOVERY_CODES }, () => randomHex(8));

/** The digest that is stored of a recovery code, in whatever way it was typed. */
export const recoveryDigest = (code: string): Buffer => digest(code.replaceAll(/[\s-]/g, '').toLowerCase());

/** A key as it is sealed: as text. */
export const keyText = (key: Buffer): string => key.toString('base64url');
export const keyOf = (text: string): Buffer => Buffer.from(text, 'base64url');
