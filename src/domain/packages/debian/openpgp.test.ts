import { createHash, createPublicKey, verify } from 'node:crypto';
import { expect, test } from 'vitest';
import { ed25519PublicBytes, makeEd25519Key, parsePrivateKey } from '../../../platform/secret.ts';
import { detachedSignature, publicKeyText, signedText } from './openpgp.ts';

/** Of these texts GnuPG 2.2 said `Good signature`, with this key. */
const signing = {
  key: parsePrivateKey(
    '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f\n-----END PRIVATE KEY-----\n',
  ),
  madeAt: new Date('2026-01-01T00:00:00.900Z'),
};
const time = new Date('2026-01-02T00:00:00Z');

test('texts are as they were when another program took them for right', () => {
  expect(publicKeyText(signing, 'Packages of sid')).toMatchInlineSnapshot(`
    "-----BEGIN PGP PUBLIC KEY BLOCK-----

    xjMEaVW5ABYJKwYBBAHaRw8BAQdAA6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyG
    ZBJVMbjND1BhY2thZ2VzIG9mIHNpZMJ4BBMWCgAgFiEEsaLRRkogM66bXhuWUwcM
    Vtl5oygFAmlVuQACGwMACgkQUwcMVtl5oyiqVAEAsZGAQze4SPtWaSb43LtIefp4
    oR8nI1RmZFjEckNpPQcBAM+OIqq+jLRmwMrN2cRqZlm2+9AEA8rh50gig1JduycF
    =D4ig
    -----END PGP PUBLIC KEY BLOCK-----
    "
  `);
  expect(signedText(signing, 'a\n- b \nç\n', time)).toMatchInlineSnapshot(`
    "-----BEGIN PGP SIGNED MESSAGE-----
    Hash: SHA512

    a
    - - b 
    ç
    -----BEGIN PGP SIGNATURE-----

    wnUEARYKAB0WIQSxotFGSiAzrpteG5ZTBwxW2XmjKAUCaVcKgAAKCRBTBwxW2Xmj
    KJN6AQD3C4CdnbKVldbC/6SghG3OlIieFGl+1BAf3HZ7AxWF7QEAwJFGdIjSaGnM
    IgyES6lA99LmV6FwpbBMSP0K4rk+zA0=
    =7OzS
    -----END PGP SIGNATURE-----
    "
  `);
  expect(detachedSignature(signing, 'a\n- b \nç\n', time)).toMatchInlineSnapshot(`
    "-----BEGIN PGP SIGNATURE-----

    wnUEABYKAB0WIQSxotFGSiAzrpteG5ZTBwxW2XmjKAUCaVcKgAAKCRBTBwxW2Xmj
    KFOYAQDMcTvEDw150OAX2nmDGOuNc/Wje62scPzrzOit4//MOgD/Q9DJt4I3Hb+6
    lk1rlpe+PdzXd9Bxtl6lsbFp+lAh9Aw=
    =wDmv
    -----END PGP SIGNATURE-----
    "
  `);
});

/** What the armor has. */
const bytesOf = (armored: string): Buffer =>
  Buffer.from(/\n\n([\s\S]*)\n=/.exec(armored)?.[1] ?? '', 'base64');

test('whatever the key is, its signatures are right', () => {
  for (let round = 0; round < 300; round++) {
    const key = parsePrivateKey(makeEd25519Key());
    const packet = bytesOf(detachedSignature({ key, madeAt: time }, 'granite', time)).subarray(2);
    const head = packet.subarray(0, 6 + packet.readUInt16BE(4));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(head.length);
    const hash = createHash('sha512')
      .update('granite')
      .update(head)
      .update('\x04')
      .update(Buffer.from([255]));
    let at = head.length + 2 + packet.readUInt16BE(head.length);
    const digest = hash.update(length).digest();
    expect(packet.subarray(at, at + 2)).toEqual(digest.subarray(0, 2));
    at += 2;
    const numbers = [0, 1].map(() => {
      const bits = packet.readUInt16BE(at);
      const digits = packet.subarray(at + 2, at + 2 + Math.ceil(bits / 8));
      // No zeros before it: programs refuse those.
      expect(32 - Math.clz32(digits[0] ?? 0)).toBe(((bits - 1) % 8) + 1);
      at += 2 + digits.length;
      return Buffer.concat([Buffer.alloc(32 - digits.length), digits]);
    });
    expect(at).toBe(packet.length);
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: ed25519PublicBytes(key).toString('base64url') };
    expect(verify(null, digest, createPublicKey({ key: jwk, format: 'jwk' }), Buffer.concat(numbers))).toBe(
      true,
    );
  }
});
