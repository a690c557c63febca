import { expect, test } from 'vitest';
import { squashByDefault, squashOnMerge } from './squash.ts';

test.each([
  ['never', false, [false, false]],
  ['always', true, [true, true]],
  ['default_on', true, [false, true]],
  ['default_off', false, [false, true]],
] as const)('%s', (option, byDefault, [without, withSquash]) => {
  expect(squashByDefault(option)).toBe(byDefault);
  expect(squashOnMerge(option, false)).toBe(without);
  expect(squashOnMerge(option, true)).toBe(withSquash);
});
