/** Rules of sites. */
import { expect, test } from 'vitest';
import { percentage, requirePlace, requireRemovable, requireValid, withSlash } from './rules.ts';

test.each([
  ['https://a.example', 'https://a.example/'],
  ['https://a.example/x/', 'https://a.example/x/'],
])('%s is kept as %s', (given, kept) => expect(withSlash(given)).toBe(kept));

test.each([
  [{ name: ' ' }, 'blank'],
  [{ url: 'ftp://a.example' }, 'valid URL'],
  [{ url: 'javascript:alert(1)' }, 'valid URL'],
  [{ internal_url: 'nowhere' }, 'valid URL'],
  [{ primary: true, enabled: false }, 'primary site'],
])('%j is refused', (input, text) => expect(() => requireValid(input)).toThrow(text));

test.each([{}, { name: 'a', url: 'http://a', internal_url: null }, { primary: true }, { enabled: false }])(
  '%j is taken',
  (input) => expect(() => requireValid(input)).not.toThrow(),
);

test('there are a hundred, and the primary goes last', () => {
  expect(() => requirePlace(99)).not.toThrow();
  expect(() => requirePlace(100)).toThrow('Maximum number of sites (100) exceeded');
  expect(() => requireRemovable({ is_primary: true }, 2)).toThrow('cannot be removed');
  expect(() => requireRemovable({ is_primary: true }, 1)).not.toThrow();
  expect(() => requireRemovable({ is_primary: false }, 2)).not.toThrow();
});

test.each([
  [0, 0, '0.00%'],
  [1, 3, '33.33%'],
  [2, 2, '100.00%'],
])('%d of %d are %s', (part, whole, text) => expect(percentage(part, whole)).toBe(text));
