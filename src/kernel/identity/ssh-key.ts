/** Parses public SSH keys, and gives their fingerprints. Pure. */
import { digest, keyFingerprint } from '../../platform/secret.ts';

export type SshKey = {
  /** Type, base64 and comment, with one space between. */
  text: string;
  comment: string;
  /** MD5, as `aa:bb:…`. */
  fingerprint: string;
  /** `SHA256:…`, as ssh-keygen prints it. */
  fingerprintSha256: string;
};

const MINIMUM_RSA_BITS = 1_024;

/** Parses the wire format: strings after their lengths (RFC 4251, section 5). */
function readStrings(blob: Buffer): Buffer[] | undefined {
  const strings: Buffer[] = [];
  let at = 0;
  while (at < blob.length) {
    if (at + 4 > blob.length) return undefined;
    const end = at + 4 + blob.readUInt32BE(at);
    if (end > blob.length) return undefined;
    strings.push(blob.subarray(at + 4, end));
    at = end;
  }
  return strings;
}

const bitsOf = (integer: Buffer): number => {
  const start = integer.findIndex((byte) => byte !== 0);
  return start < 0 ? 0 : (integer.length - start) * 8 - Math.clz32(integer[start] ?? 0) + 24;
};

const isPoint = (curve: string, size: number) => (parts: Buffer[]) =>
  parts[0]?.toString('latin1') === curve && parts[1]?.length === 2 * size + 1 && parts[1][0] === 4;

type Shape = { parts: number; isSound: (parts: Buffer[]) => boolean };

/** The supported types, with the number and check of the fields after each. DSA is left out: it is broken. */
const shapes: Record<string, Shape> = {
  'ssh-rsa': { parts: 2, isSound: (parts) => bitsOf(parts[1] ?? Buffer.alloc(0)) >= MINIMUM_RSA_BITS },
  'ssh-ed25519': { parts: 1, isSound: (parts) => parts[0]?.length === 32 },
  'ecdsa-sha2-nistp256': { parts: 2, isSound: isPoint('nistp256', 32) },
  'ecdsa-sha2-nistp384': { parts: 2, isSound: isPoint('nistp384', 48) },
  'ecdsa-sha2-nistp521': { parts: 2, isSound: isPoint('nistp521', 66) },
  'sk-ssh-ed25519@openssh.com': { parts: 2, isSound: (parts) => parts[0]?.length === 32 },
  'sk-ecdsa-sha2-nistp256@openssh.com': { parts: 3, isSound: isPoint('nistp256', 32) },
};

/** Parses a line of `authorized_keys` without options; undefined for anything but a sound public key. */
export function readSshKey(line: string): SshKey | undefined {
  const [type = '', encoded = '', ...words] = line.trim().split(/\s+/);
  if (/[\r\n]/.test(line.trim()) || !Object.hasOwn(shapes, type)) return undefined;
  const shape = shapes[type];
  if (!shape || !/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return undefined;
  const blob = Buffer.from(encoded, 'base64');
  const [name, ...parts] = readStrings(blob) ?? [];
  if (name?.toString('latin1') !== type || parts.length !== shape.parts || !shape.isSound(parts))
    return undefined;
  const comment = words.join(' ');
  return {
    text: [type, encoded, comment].filter((part) => part !== '').join(' '),
    comment,
    fingerprint: keyFingerprint('md5', blob).replaceAll(/(..)(?=.)/g, '$1:'),
    fingerprintSha256: `SHA256:${digest(blob).toString('base64').replace(/=+$/, '')}`,
  };
}
