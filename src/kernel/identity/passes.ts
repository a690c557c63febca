/** Passes: JSON Web Tokens by which the server knows again, for a while, what it has said itself (RFC 7519, HS256). Pure. */
import { authenticate, deriveKey, digest, sameSecret, seal, unseal } from '../../platform/secret.ts';

export type Claims = Readonly<Record<string, string | number>>;

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const HEADER = `${encode({ alg: 'HS256', typ: 'JWT' })}.`;

export function makePass(
  key: Buffer,
  claims: Claims,
  { time, seconds }: { time: Date; seconds: number },
): string {
  const issued = Math.floor(time.getTime() / 1_000);
  const content = `${HEADER}${encode({ ...claims, iat: issued, exp: issued + seconds })}`;
  return `${content}.${authenticate(key, content)}`;
}

/** What the pass says; undefined for one that is not ours, or that is over. */
export function readPass(key: Buffer, pass: string, time: Date): Claims | undefined {
  if (!pass.startsWith(HEADER)) return undefined;
  const end = pass.lastIndexOf('.');
  const content = pass.slice(0, end);
  if (!sameSecret(pass.slice(end + 1), authenticate(key, content))) return undefined;
  const claims: Claims = JSON.parse(Buffer.from(content.slice(HEADER.length), 'base64url').toString());
  return Number(claims.exp) * 1_000 < time.getTime() ? undefined : claims;
}

/** For which a program may send it in place of its token. */
const PROGRAM_SECONDS = 3_600;

const programKey = (secretKey: string): Buffer => deriveKey(secretKey, 'package programs');

/**
 * A pass for the program that has the token. It names the token by its digest, which nobody reads: what ends the token ends the
 * pass.
 */
export function programPass(secretKey: string, token: string | Buffer, time: Date): string {
  const named = (typeof token === 'string' ? digest(token) : token).toString('hex');
  return makePass(
    programKey(secretKey),
    { token: seal(secretKey, named) },
    { time, seconds: PROGRAM_SECONDS },
  );
}

/** The digest of the token for which the pass stands; undefined for what is no pass, or one that is over. */
export function tokenOfPass(secretKey: string, pass: string, time: Date): Buffer | undefined {
  const claims = readPass(programKey(secretKey), pass, time);
  return claims && Buffer.from(unseal(secretKey, String(claims.token)), 'hex');
}
