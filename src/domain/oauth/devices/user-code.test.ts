import { describe, expect, test } from 'vitest';
import { randomKey } from '../../../platform/secret.ts';
import { parseUserCode, RANDOM_BYTES, showUserCode, userCodeFrom } from './user-code.ts';

describe('user codes', () => {
  test.each([
    ['00', 'BBBBBBBB'],
    ['01', 'CBBBBBBB'],
    ['13', 'ZBBBBBBB'],
    ['14', 'BCBBBBBB'],
    // One less than 20^8, and that itself: the codes begin anew.
    ['05f5e0ffff', 'ZZZZZZZZ'],
    ['05f5e10000', 'BBBBBBBB'],
  ])('the bytes %s make %s', (bytes, code) => {
    expect(userCodeFrom(Buffer.from(bytes, 'hex'))).toBe(code);
  });

  test('are eight letters, none of them a vowel, and each letter comes up in each place', () => {
    const codes = Array.from({ length: 1_000 }, () => userCodeFrom(randomKey(RANDOM_BYTES)));
    for (const code of codes) expect(code).toMatch(/^[B-DF-HJ-NP-TV-XZ]{8}$/);
    expect(new Set(codes).size).toBe(codes.length);
    for (let place = 0; place < 8; place++)
      expect(new Set(codes.map((code) => code[place])).size, `place ${place}`).toBe(20);
  });

  test('are shown in two groups, and read as they are shown', () => {
    expect(showUserCode('WDJBMJHT')).toBe('WDJB-MJHT');
    expect(parseUserCode(showUserCode('WDJBMJHT'))).toBe('WDJBMJHT');
  });

  test.each([
    'WDJBMJHT',
    'wdjbmjht',
    'wDjB-mJhT',
    ' wdjb mjht ',
    'WDJB–MJHT',
    'w.d_j/b\tm j\u00a0h\u200bt',
    '-WDJB--MJHT-',
  ])('%j is read', (typed) => {
    expect(parseUserCode(typed)).toBe('WDJBMJHT');
  });

  test.each([
    '',
    '----',
    'WDJB-MJH',
    'WDJB-MJHTX',
    'WDJB-MJHA',
    'WDJB-MJH1',
    'WDJB-MJHÜ',
    'WDJB-MJHY',
    'WDJBMJHT\nWDJBMJHT',
    'ＷDJBMJHT',
  ])('%j is none', (typed) => {
    expect(parseUserCode(typed)).toBeUndefined();
  });
});
