/** The choice of a storage by weights. */
import { expect, test } from 'vitest';
import { pickStorage } from './storage-choice.ts';

const three = ['default', 'fast', 'slow'];

test.each<[weights: Record<string, number>, random: number, chosen: string]>([
  [{ default: 100 }, 0, 'default'],
  [{ default: 100 }, 0.999, 'default'],
  [{ default: 50, fast: 50 }, 0.49, 'default'],
  [{ default: 50, fast: 50 }, 0.5, 'fast'],
  [{ default: 0, slow: 1 }, 0, 'slow'],
  [{ default: 1, fast: 1, slow: 2 }, 0.5, 'slow'],
  [{}, 0.3, 'default'],
  [{ fast: 0 }, 0.3, 'default'],
  [{ gone: 100 }, 0.3, 'default'],
  [{ fast: -5, slow: 1 }, 0, 'slow'],
])('weights %j at %d choose %s', (weights, random, chosen) => {
  expect(pickStorage(weights, three, random)).toBe(chosen);
});

test('a storage named as a member of every object has no weight by that', () => {
  expect(pickStorage({}, ['default', 'constructor'], 0.9)).toBe('default');
});

test('where no storage has a weight and none is the default one, the first is taken', () => {
  expect(pickStorage({ default: 100 }, ['fast', 'slow'], 0.9)).toBe('fast');
});
