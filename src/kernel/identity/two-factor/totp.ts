/** One-time codes by time (RFC 6238, RFC 4226): six digits, SHA-1, 30 s steps. Pure but newTotpSecret(). */
import { hmacSha1, randomKey, sameSecret } from '../../../platform/secret.ts';

const STEP_SECONDS = 30;
const DIGITS = 6;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** A new key: 160 bits, as RFC 4226 asks. */
export const newTotpSecret = (): Buffer => randomKey(20);

/** The step of a time. */
export const totpStep = (time: Date): number => Math.floor(time.getTime() / 1_000 / STEP_SECONDS);

/** The code of a step (RFC 4226: dynamic truncation), with leading zeros. */
export function totpCode(secret: Buffer, step: number, digits = DIGITS): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = hmacSha1(secret, counter);
  const offset = mac.readUInt8(mac.length - 1) & 0x0f;
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/**
 * The step of this code, among the present one and its two neighbours (clocks differ), or undefined. Steps up
 * to `after` do not count: a code works once.
 */
export function matchingStep(
  secret: Buffer,
  code: string,
  time: Date,
  after: number | null,
): number | undefined {
  const digits = code.replaceAll(/\s/g, '');
  if (!/^\d{6}$/.test(digits)) return undefined;
  const present = totpStep(time);
  return [present, present - 1, present + 1].find(
    (step) => step > (after ?? -1) && sameSecret(totpCode(secret, step), digits),
  );
}

/** Base 32 without padding (RFC 4648 §6), for keys that are typed into authenticator apps. */
export function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => ALPHABET[Number.parseInt(group.padEnd(5, '0'), 2)]).join('');
}

/** The key URI of authenticator apps: `otpauth://totp/issuer:account?…`. */
export function otpauthUri(secret: Buffer, account: string, issuer: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  return `otpauth://totp/${label}?secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}`;
}
