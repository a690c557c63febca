import { expect, test } from 'vitest';
import { guessTier } from './tier.ts';

test.each([
  ['review/app', 'development'],
  ['QA', 'testing'],
  ['pre-production', 'staging'],
  ['acceptance', 'testing'],
  ['live', 'production'],
  ['granite', 'other'],
  ['devproduction', 'development'],
])('the tier of %s is %s', (name, tier) => expect(guessTier(name)).toBe(tier));
