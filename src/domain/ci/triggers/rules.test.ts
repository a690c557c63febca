/** Trigger tokens: what others see of them, and how many there may be. */
import { expect, test } from 'vitest';
import { MAX_TRIGGERS, requirePlace, shortToken } from './rules.ts';

test('others see four characters of a token, none of which all tokens have', () => {
  expect(shortToken('glptt-0123456789')).toBe('0123');
});

test('a project has so many tokens and no more', () => {
  expect(() => requirePlace(MAX_TRIGGERS - 1)).not.toThrow();
  expect(() => requirePlace(MAX_TRIGGERS)).toThrow('Maximum number of pipeline triggers (25000) exceeded');
});
