/** Writes an OpenPGP key and signatures of it: version 4, Ed25519, SHA-512 (RFC 4880; RFC 9580, section 9.2.1). Pure. */
import {
  ed25519PublicBytes,
  keyFingerprint,
  type PrivateKey,
  signEd25519,
  startDigest,
} from '../../../platform/secret.ts';

const ED25519 = 22;
const ED25519_CURVE = Buffer.from('2b06010401da470f01', 'hex');
const SHA512 = 10;
const KEY_PACKET = 6;
const USER_PACKET = 13;
const SIGNATURE_PACKET = 2;
/** What a signature is of. */
const kinds = { binary: 0x00, text: 0x01, certification: 0x13 } as const;
/** Subpackets. */
const MADE_AT = 2;
const ISSUER = 16;
const KEY_FLAGS = 27;
const FINGERPRINT = 33;
/** It certifies and signs. */
const FLAGS = 0x03;

/** A private key, and the second in which it was made, which is a part of what it is. */
export type SigningKey = { key: PrivateKey; madeAt: Date };

const number = (value: number, bytes: number): Buffer => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(value, 0, bytes);
  return buffer;
};
const seconds = (time: Date): Buffer => number(Math.floor(time.getTime() / 1_000), 4);

function packet(tag: number, body: Buffer): Buffer {
  const { length } = body;
  const size = length < 192 ? [length] : [((length - 192) >> 8) + 192, (length - 192) & 0xff];
  return Buffer.concat([Buffer.from([0xc0 | tag, ...size]), body]);
}

/** A number of any length, without zeros before it. */
function integer(bytes: Buffer): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  if (first === -1) return number(0, 2);
  const digits = bytes.subarray(first);
  const bits = digits.length * 8 - Math.clz32(digits[0] ?? 0) + 24;
  return Buffer.concat([number(bits, 2), digits]);
}

const keyBody = ({ key, madeAt }: SigningKey): Buffer =>
  Buffer.concat([
    Buffer.from([4]),
    seconds(madeAt),
    Buffer.from([ED25519, ED25519_CURVE.length]),
    ED25519_CURVE,
    integer(Buffer.concat([Buffer.from([0x40]), ed25519PublicBytes(key)])),
  ]);

/** The key as signatures hash it. */
const hashedKey = (body: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0x99]), number(body.length, 2), body]);

const subpacket = (type: number, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from([content.length + 1, type]), content]);

function signature(
  signing: SigningKey,
  kind: keyof typeof kinds,
  content: Buffer,
  time: Date,
  further: readonly Buffer[] = [],
): Buffer {
  const fingerprint = Buffer.from(keyFingerprint('sha1', hashedKey(keyBody(signing))), 'hex');
  const hashed = Buffer.concat([
    subpacket(FINGERPRINT, Buffer.concat([Buffer.from([4]), fingerprint])),
    subpacket(MADE_AT, seconds(time)),
    ...further,
  ]);
  const head = Buffer.concat([
    Buffer.from([4, kinds[kind], ED25519, SHA512]),
    number(hashed.length, 2),
    hashed,
  ]);
  const digest = startDigest('sha512')
    .update(content)
    .update(head)
    .update(Buffer.from([4, 0xff]))
    .update(number(head.length, 4))
    .digest();
  const unhashed = subpacket(ISSUER, fingerprint.subarray(-8));
  const signed = signEd25519(signing.key, digest);
  return packet(
    SIGNATURE_PACKET,
    Buffer.concat([
      head,
      number(unhashed.length, 2),
      unhashed,
      digest.subarray(0, 2),
      integer(signed.subarray(0, 32)),
      integer(signed.subarray(32)),
    ]),
  );
}

/** The checksum of armor (RFC 4880, section 6.1). */
function crc24(bytes: Buffer): Buffer {
  let crc = 0xb704ce;
  for (const byte of bytes) {
    crc ^= byte << 16;
    for (let bit = 0; bit < 8; bit++) {
      crc <<= 1;
      if (crc & 0x1000000) crc ^= 0x1864cfb;
    }
  }
  return number(crc & 0xffffff, 3);
}

function armor(what: 'PUBLIC KEY BLOCK' | 'SIGNATURE', bytes: Buffer): string {
  const lines = bytes.toString('base64').replace(/.{64}(?=.)/g, '$&\n');
  return `-----BEGIN PGP ${what}-----\n\n${lines}\n=${crc24(bytes).toString('base64')}\n-----END PGP ${what}-----\n`;
}

/** The public key, with the name of whose it is. */
export function publicKeyText(signing: SigningKey, name: string): string {
  const body = keyBody(signing);
  const user = Buffer.from(name);
  const named = Buffer.concat([hashedKey(body), Buffer.from([0xb4]), number(user.length, 4), user]);
  const flags = subpacket(KEY_FLAGS, Buffer.from([FLAGS]));
  const certified = signature(signing, 'certification', named, signing.madeAt, [flags]);
  return armor(
    'PUBLIC KEY BLOCK',
    Buffer.concat([packet(KEY_PACKET, body), packet(USER_PACKET, user), certified]),
  );
}

/** A signature beside the text. */
export const detachedSignature = (signing: SigningKey, text: string, time: Date): string =>
  armor('SIGNATURE', signature(signing, 'binary', Buffer.from(text), time));

/** The text with its signature behind it (RFC 4880, section 7). */
export function signedText(signing: SigningKey, text: string, time: Date): string {
  const lines = text.replace(/\n$/, '').split('\n');
  const canonical = lines.map((line) => line.replace(/[ \t\r]+$/, '')).join('\r\n');
  const shown = lines.map((line) => (line.startsWith('-') ? `- ${line}` : line)).join('\n');
  const armored = armor('SIGNATURE', signature(signing, 'text', Buffer.from(canonical), time));
  return `-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n${shown}\n${armored}`;
}
