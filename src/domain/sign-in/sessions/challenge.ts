/**
 * The content of the second step's form: the user who gave the right password, and until when that counts.
 */
import { authenticate, deriveKey, digest, sameSecret } from '../../../platform/secret.ts';

/** Ten minutes, enough to find the telephone. */
const LIFETIME_MS = 10 * 60_000;

type Subject = { id: number; password_hash: string | null };

/** The authenticated text has the hash: a changed password ends the challenge. */
function codeOf(secretKey: string, subject: Subject, expires: number): string {
  const password = digest(subject.password_hash ?? '').toString('base64url');
  return authenticate(deriveKey(secretKey, 'second step'), `${subject.id}.${expires}.${password}`);
}

/** A text that proves the first step, for ten minutes and this password. */
export function makeChallenge(secretKey: string, subject: Subject, time: Date): string {
  const expires = time.getTime() + LIFETIME_MS;
  return `${subject.id}.${expires}.${codeOf(secretKey, subject, expires)}`;
}

/** The id of the challenge's user; it is proved by isChallengeOf() alone. */
export function challengedUser(challenge: string): number | undefined {
  const id = /^(\d{1,15})\.\d{1,15}\.[\w-]+$/.exec(challenge)?.[1];
  return id === undefined ? undefined : Number(id);
}

/** Whether the challenge was made for the user's present password, and has not expired. */
export function isChallengeOf(secretKey: string, subject: Subject, challenge: string, time: Date): boolean {
  const [id, expires, code = ''] = challenge.split('.');
  if (Number(id) !== subject.id || !(Number(expires) > time.getTime())) return false;
  return sameSecret(code, codeOf(secretKey, subject, Number(expires)));
}
