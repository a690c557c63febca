import { describe, expect, test } from 'vitest';
import { countedPage, signatureType } from './rules.ts';

const page = { kind: 'offset', page: 2, perPage: 2, offset: 2, countLimit: 10 } as const;

describe('pages', () => {
  test.each([
    [[3, 4], 5, true],
    [[3, 4], 4, false],
    [[], 1, false],
  ])('of %j, of %i', (items, total, more) =>
    expect(countedPage(page, items, total)).toEqual({ items, total, more }),
  );

  test('of more than are counted', () =>
    expect(countedPage(page, [3, 4], 11)).toEqual({ items: [3, 4], total: undefined, more: true }));
});

test.each([
  [undefined, undefined],
  ['-----BEGIN PGP SIGNATURE-----\nx', 'PGP'],
  ['-----BEGIN SSH SIGNATURE-----\nx', 'SSH'],
  ['-----BEGIN SIGNED MESSAGE-----\nx', 'X509'],
])('signatureType(%j) is %s', (signature, type) =>
  expect(signatureType(signature === undefined ? {} : { signature })).toBe(type),
);
