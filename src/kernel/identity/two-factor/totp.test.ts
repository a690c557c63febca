import { describe, expect, test } from 'vitest';
import { base32, matchingStep, newTotpSecret, otpauthUri, totpCode, totpStep } from './totp.ts';

/** The key of RFC 6238, appendix B, for SHA-1. */
const secret = Buffer.from('12345678901234567890');
const at = (seconds: number) => new Date(seconds * 1_000);

describe('totpCode: the test values of RFC 6238, appendix B', () => {
  test.each([
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ])('at %i s', (seconds, code) => {
    expect(totpCode(secret, totpStep(at(seconds)), 8)).toBe(code);
    expect(totpCode(secret, totpStep(at(seconds)))).toBe(code.slice(-6));
  });
});

test('the test values of RFC 4226, appendix D', () => {
  const codes = Array.from({ length: 10 }, (_, counter) => totpCode(secret, counter));
  expect(codes.join(' ')).toBe('755224 287082 359152 969429 338314 254676 287922 162583 399871 520489');
});

describe('matchingStep', () => {
  const time = at(1_234_567_890);
  const step = totpStep(time);
  const code = (offset: number) => totpCode(secret, step + offset);

  test.each([
    ['the present code', code(0), null, step],
    ['written with a space', `${code(0).slice(0, 3)} ${code(0).slice(3)}`, null, step],
    ['the one before', code(-1), null, step - 1],
    ['the next', code(1), null, step + 1],
    ['two steps old', code(-2), null, undefined],
    ['two steps ahead', code(2), null, undefined],
    ['used already', code(0), step, undefined],
    ['older than the last used', code(-1), step, undefined],
    ['newer than the last used', code(1), step, step + 1],
    ['too short', code(0).slice(1), null, undefined],
    ['no digits', 'abcdef', null, undefined],
    ['empty', '', null, undefined],
  ])('%s', (_case, given, after, expected) => {
    expect(matchingStep(secret, given, time, after)).toBe(expected);
  });
});

describe('keys', () => {
  // RFC 4648, section 10, without its padding.
  test.each([
    ['', ''],
    ['f', 'MY'],
    ['fo', 'MZXQ'],
    ['foo', 'MZXW6'],
    ['foob', 'MZXW6YQ'],
    ['fooba', 'MZXW6YTB'],
    ['foobar', 'MZXW6YTBOI'],
  ])('base32 of %j', (text, encoded) => {
    expect(base32(Buffer.from(text))).toBe(encoded);
  });

  test('a new key has 160 bits and is another each time', () => {
    expect(newTotpSecret()).toHaveLength(20);
    expect(newTotpSecret().equals(newTotpSecret())).toBe(false);
  });

  test('the address for apps escapes what stands in names', () => {
    expect(otpauthUri(secret, 'a b@x', 'host:8080')).toBe(
      'otpauth://totp/host%3A8080:a%20b%40x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=host%3A8080',
    );
  });
});
