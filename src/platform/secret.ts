/** Randomness, digests, sealing and passwords: the only file that touches node:crypto for secrets. */
import {
  type Argon2Parameters,
  argon2,
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type Hash,
  hash,
  hkdfSync,
  type KeyObject,
  randomBytes,
  randomInt,
  randomUUID,
  sign,
  timingSafeEqual,
  verify,
} from 'node:crypto';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { Failure } from './failure.ts';
import { currentCaller } from './fair-share.ts';
import { createThreads } from './threads.ts';

/** URL-safe random text with `bytes` of entropy. */
export const randomText = (bytes: number): string => randomBytes(bytes).toString('base64url');
export const randomHex = (bytes: number): string => randomBytes(bytes).toString('hex');
/** A UUID, of version 4. */
export const randomId = (): string => randomUUID();
/** At least 0 and below 1. */
export const randomFraction = (): number => randomInt(2 ** 32) / 2 ** 32;

/** SHA-256: of a token, code or key, what is stored in its place; of a file, its name. */
export const digest = (secret: string | Buffer): Buffer => hash('sha256', secret, 'buffer');

export type DigestAlgorithm = 'sha256' | 'sha512' | 'sha1' | 'md5';

/** The same of what arrives in pieces; by another algorithm where a format asks for that. */
export const startDigest = (algorithm: DigestAlgorithm = 'sha256'): Hash => createHash(algorithm);

/** A digest as the formats of keys want it: where md5 or SHA-1 names a key, it guards nothing. */
export const keyFingerprint = (algorithm: 'md5' | 'sha1', key: Buffer): string => hash(algorithm, key);

/** SHA-1: where a format asks for it to tell things apart; it guards nothing. */
export const sha1 = (text: string): Buffer => hash('sha1', text, 'buffer');

/** Compares two strings in time that depends on neither (both are hashed first, so that lengths do not show). */
export const sameSecret = (left: string, right: string): boolean =>
  timingSafeEqual(digest(left), digest(right));

/** Whether the secret is the one whose digest was stored. */
export const isDigestOf = (secret: string, stored: Buffer): boolean =>
  timingSafeEqual(digest(secret), stored);

/** Keyed authentication code over text, URL-safe (CSRF tokens, cursors). */
export const authenticate = (key: Buffer, text: string): string =>
  createHmac('sha256', key).update(text).digest('base64url');

/** HMAC-SHA-256 in hexadecimal digits: signs requests to other services. */
export const hmacSha256 = (key: string, message: string): string =>
  createHmac('sha256', key).update(message).digest('hex');

/** HMAC-SHA-1: only for one-time codes, whose standard names it. */
export const hmacSha1 = (key: Buffer, message: Buffer): Buffer =>
  createHmac('sha1', key).update(message).digest();

/** Random bytes, for keys that are shown in an encoding of their own. */
export const randomKey = (bytes: number): Buffer => randomBytes(bytes);

/** By purpose and secret key: there is one of these, and few of those. */
const derived = new Map<string, Buffer>();

/** A key for one purpose, derived from the instance's secret key. */
export function deriveKey(secretKey: string, purpose: string): Buffer {
  const name = `${purpose} ${secretKey}`;
  const key = derived.get(name) ?? Buffer.from(hkdfSync('sha256', secretKey, 'ashlar', purpose, 32));
  derived.set(name, key);
  return key;
}

/** Names a secret key without revealing it, so that two processes can tell that theirs differ. */
export const keyId = (secretKey: string): string =>
  deriveKey(secretKey, 'key id').toString('hex').slice(0, 16);

const SEAL_VERSION = 'v1';

/** AES-256-GCM under the instance key: `v1.keyid.nonce.tag.ciphertext`, for secrets that must be read again. */
export function seal(secretKey: string, plain: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', deriveKey(secretKey, 'seal'), nonce);
  const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  const parts = [nonce, cipher.getAuthTag(), sealed].map((part) => part.toString('base64url'));
  return [SEAL_VERSION, keyId(secretKey), ...parts].join('.');
}

/** Opens what seal() made; throws when the key is another or the text was changed. */
export function unseal(secretKey: string, sealed: string): string {
  const [version, id, nonce, tag, body] = sealed.split('.');
  if (version !== SEAL_VERSION || !nonce || !tag || body === undefined)
    throw new Error('not a sealed secret');
  if (id !== keyId(secretKey)) throw new Error('sealed under another ASHLAR_SECRET_KEY');
  const decipher = createDecipheriv(
    'aes-256-gcm',
    deriveKey(secretKey, 'seal'),
    Buffer.from(nonce, 'base64url'),
  );
  decipher.setAuthTag(Buffer.from(tag, 'base64url'));
  return Buffer.concat([decipher.update(Buffer.from(body, 'base64url')), decipher.final()]).toString('utf8');
}

const ARGON2 = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 } as const;
const PARAMETERS = `m=${ARGON2.memory},t=${ARGON2.passes},p=${ARGON2.parallelism}`;
const phcPart = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

/** For the program itself, which starts or runs a command: nobody waits beside it, and it has time. */
const hashAtOnce = promisify(argon2);

/** One hash after the other, in a thread of its own: each takes 19 MiB and a core, and other requests must go on. */
const hashing = createThreads<Argon2Parameters, Uint8Array>({
  file: new URL(`./password-thread${extname(import.meta.url)}`, import.meta.url),
  share: {
    of: 'passwords to check',
    places: 1,
    perCaller: 1,
    waitingPerCaller: 100,
    waiting: 500,
    timeoutMs: 30_000,
  },
  memoryMb: 64,
});
/** Of one hash on a machine that is busy with other things: the thread has the lowest priority. */
const HASH_TIMEOUT_MS = 60_000;

async function argon2id(password: string, salt: Buffer, memory: number, passes: number, parallelism: number) {
  const parameters = {
    message: password,
    nonce: salt,
    parallelism,
    tagLength: ARGON2.tagLength,
    memory,
    passes,
  };
  const hash =
    currentCaller() === undefined
      ? await hashAtOnce('argon2id', parameters)
      : await hashing.ask(parameters, HASH_TIMEOUT_MS);
  if (hash) return Buffer.from(hash);
  throw new Failure('unavailable', '503 Service Unavailable: a password could not be checked in time', {
    headers: { 'retry-after': '5' },
  });
}

/** Argon2id in PHC form: `$argon2id$v=19$m=…,t=…,p=…$salt$hash`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const hash = await argon2id(password, salt, ARGON2.memory, ARGON2.passes, ARGON2.parallelism);
  return `$argon2id$v=19$${PARAMETERS}$${phcPart(salt)}$${phcPart(hash)}`;
}

const NOBODY = `$argon2id$v=19$${PARAMETERS}$${phcPart(Buffer.alloc(16))}$${phcPart(Buffer.alloc(32))}`;

/**
 * Whether the password is the one that was hashed, and whether it should be hashed anew because the parameters changed.
 * Without a stored hash (unknown user, or one with no password) it costs the same and is never right.
 */
export async function checkPassword(
  password: string,
  stored: string | null | undefined,
): Promise<{ right: boolean; rehash: boolean }> {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/.exec(stored ?? NOBODY);
  if (!match) return { right: false, rehash: false };
  const [, memory, passes, parallelism, salt, hash] = match;
  const expected = Buffer.from(hash ?? '', 'base64');
  const actual = await argon2id(
    password,
    Buffer.from(salt ?? '', 'base64'),
    Number(memory),
    Number(passes),
    Number(parallelism),
  );
  const right = stored != null && expected.length === actual.length && timingSafeEqual(expected, actual);
  return { right, rehash: right && !stored.includes(`$${PARAMETERS}$`) };
}

export type PrivateKey = KeyObject;

/** A private key from its PEM text. */
export const parsePrivateKey = (pem: string): PrivateKey => createPrivateKey(pem);

const signInBackground = promisify(sign);

/** An RS256 signature (RFC 7518, section 3.3), made off the main thread; by way of the Web's interface it takes longer. */
export const signRs256 = (key: PrivateKey, content: string): Promise<Buffer> =>
  signInBackground('sha256', Buffer.from(content), key);

export type PublicKey = KeyObject;

/** A public RSA key from its JWK. */
export const parsePublicKey = (jwk: { n: string; e: string }): PublicKey =>
  createPublicKey({ key: { kty: 'RSA', n: jwk.n, e: jwk.e }, format: 'jwk' });

/** Whether the key's owner made the RS256 signature; in well under a millisecond. */
export const isSignedRs256 = (key: PublicKey, content: string, signature: Buffer): boolean =>
  verify('sha256', Buffer.from(content), key, signature);

/** A new private Ed25519 key as PEM text, in well under a millisecond. */
export const makeEd25519Key = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();

/** The 32 bytes of the public key that belongs to it. */
export const ed25519PublicBytes = (key: PrivateKey): Buffer =>
  Buffer.from(createPublicKey(key).export({ format: 'jwk' }).x ?? '', 'base64url');

/** An Ed25519 signature of 64 bytes, in well under a millisecond. */
export const signEd25519 = (key: PrivateKey, content: Buffer): Buffer => sign(null, content, key);
