import { describe, expect, test } from 'vitest';
import { dsaKey, sampleKeys } from '../../../test/support/sample-keys.ts';
import { readSshKey } from './ssh-key.ts';

const { ed25519, ecdsa256, rsa } = sampleKeys;
const [type, encoded] = ed25519.key.split(' ');

/** The same blob under another name. */
const relabel = (label: string, key: string) => `${label} ${key.split(' ')[1]}`;
/** A key of that type whose parts have these lengths. */
const forge = (name: string, ...lengths: number[]) => {
  const parts = [Buffer.from(name), ...lengths.map((length) => Buffer.alloc(length, 4))];
  const blob = parts.flatMap((part) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(part.length);
    return [length, part];
  });
  return `${name} ${Buffer.concat(blob).toString('base64')}`;
};

describe('readSshKey', () => {
  test.each(Object.entries(sampleKeys))('%s has the fingerprints that ssh-keygen prints', (_, sample) => {
    expect(readSshKey(sample.key)).toEqual({
      text: sample.key,
      comment: 'ada@example',
      fingerprint: sample.md5,
      fingerprintSha256: sample.sha256,
    });
  });

  test('space around and between is made one, and a comment may be left out', () => {
    expect(readSshKey(`  ${type}\t ${encoded}   my   key \n`)?.text).toBe(`${type} ${encoded} my key`);
    expect(readSshKey(`${type} ${encoded}`)?.text).toBe(`${type} ${encoded}`);
  });

  test.each([
    ['nothing', ''],
    ['a type alone', 'ssh-ed25519'],
    ['DSA', dsaKey],
    ['a private key', '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz\n-----END OPENSSH PRIVATE KEY-----'],
    ['two lines', `${ed25519.key}\n${rsa.key}`],
    ['options before the key', `command="sh" ${ed25519.key}`],
    ['a name that is not that of the blob', relabel('ssh-rsa', ed25519.key)],
    ['a name inherited by every object', relabel('constructor', ed25519.key)],
    ['another curve', relabel('ecdsa-sha2-nistp384', ecdsa256.key)],
    ['a blob cut off', `${type} ${encoded?.slice(0, -8)}`],
    ['something after the blob', `${type} ${encoded}AAAA`],
    ['no base64', `${type} !!!!`],
    ['a short RSA modulus', forge('ssh-rsa', 3, 64)],
    ['a long ed25519 key', forge('ssh-ed25519', 33)],
  ])('refuses %s', (_, text) => {
    expect(readSshKey(text)).toBeUndefined();
  });

  test('takes a long RSA modulus', () => {
    expect(readSshKey(forge('ssh-rsa', 3, 512))).toBeDefined();
  });
});
