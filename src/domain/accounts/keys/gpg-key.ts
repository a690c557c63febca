/** Reads armored OpenPGP public keys and their fingerprints (RFC 4880, sections 4.2, 6 and 12.2). Pure. */
import { keyFingerprint } from '../../../platform/secret.ts';

const BLOCK =
  /^-----BEGIN PGP PUBLIC KEY BLOCK-----\r?\n(?:[A-Za-z]+: .*\r?\n)*\r?\n([A-Za-z0-9+/=\s]+)-----END PGP PUBLIC KEY BLOCK-----$/;

const PUBLIC_KEY_PACKET = 6;

/** Tag and body of the first packet; undefined when it is truncated or not of a key's length. */
function firstPacket(bytes: Buffer): { tag: number; body: Buffer } | undefined {
  const [head, first, second] = bytes;
  if (head === undefined || first === undefined || (head & 0x80) === 0) return undefined;
  const packet = (tag: number, start: number, length: number) =>
    start + length <= bytes.length ? { tag, body: bytes.subarray(start, start + length) } : undefined;
  if ((head & 0x40) === 0) {
    const tag = (head >> 2) & 0x0f;
    if ((head & 3) === 0) return packet(tag, 2, first);
    return (head & 3) === 1 && bytes.length > 3 ? packet(tag, 3, bytes.readUInt16BE(1)) : undefined;
  }
  const tag = head & 0x3f;
  if (first < 192) return packet(tag, 2, first);
  if (first < 224 && second !== undefined) return packet(tag, 3, (first - 192) * 256 + second + 192);
  return undefined;
}

/**
 * The fingerprint of the primary key, in upper-case hexadecimal; undefined unless it is a version 4 public
 * key.
 */
export function readGpgFingerprint(text: string): string | undefined {
  const [, armored] = BLOCK.exec(text.trim()) ?? [];
  if (armored === undefined) return undefined;
  const lines = armored.split(/\s+/).filter((line) => line !== '' && !/^=[A-Za-z0-9+/]{4}$/.test(line));
  const packet = firstPacket(Buffer.from(lines.join(''), 'base64'));
  if (packet?.tag !== PUBLIC_KEY_PACKET || packet.body[0] !== 4) return undefined;
  const length = Buffer.alloc(3, 0x99);
  length.writeUInt16BE(packet.body.length, 1);
  return keyFingerprint('sha1', Buffer.concat([length, packet.body])).toUpperCase();
}
