/** Names and states of managed licences. */
import { expect, test } from 'vitest';
import { presentStatus, requireName, requirePlace } from './rules.ts';

test.each([
  ['allowed', 'allowed'],
  ['approved', 'allowed'],
  ['denied', 'denied'],
  ['blacklisted', 'denied'],
] as const)('%s is %s', (given, shown) => {
  expect(presentStatus(given)).toBe(shown);
});

test('a name is not blank, and may be left out of a change', () => {
  expect(() => requireName(' \t')).toThrow("can't be blank");
  expect(() => requireName('MIT')).not.toThrow();
  expect(() => requireName(undefined)).not.toThrow();
});

test('there are a thousand of a project', () => {
  expect(() => requirePlace(999)).not.toThrow();
  expect(() => requirePlace(1000)).toThrow('Maximum number of managed licenses (1000) exceeded');
});
