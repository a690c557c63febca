import { expect, test } from 'vitest';
import { stateRules } from '../users/rules.ts';
import { changesFor, stateWord } from './user-changes.ts';

test.each([
  ['blocked_pending_approval', false, false, ['approve', 'reject']],
  ['blocked', false, false, ['unblock']],
  ['blocked', true, false, ['unblock']],
  ['banned', false, false, ['unban']],
  ['deactivated', false, false, ['activate', 'block']],
  ['active', false, false, ['block', 'deactivate', 'ban', 'make_administrator']],
  ['active', true, false, ['block', 'deactivate', 'ban', 'take_administrator']],
  ['active', true, true, ['take_administrator']],
])('%s, administrator: %s, oneself: %s', (state, admin, self, expected) => {
  expect(changesFor({ state, admin, self })).toEqual(expected);
});

test('what is offered is what the API takes in that state', () => {
  for (const [state, changes] of ['active', 'blocked', 'banned', 'deactivated'].map(
    (name) => [name, changesFor({ state: name, admin: false, self: false })] as const,
  ))
    for (const change of changes)
      if (change in stateRules)
        expect([change, stateRules[change as keyof typeof stateRules].from]).toEqual([
          change,
          expect.arrayContaining([state]),
        ]);
});

test.each([
  ['blocked_pending_approval', 'Waits for approval'],
  ['active', 'Active'],
  ['deactivated', 'Deactivated'],
])('%s in words', (state, word) => {
  expect(stateWord(state)).toBe(word);
});
