import { describe, expect, test } from 'vitest';
import { refusal, UNCONFIRMED } from '../../../kernel/identity/passwords/login-rules.ts';
import { afterSignOut, signUpOpen } from './rules.ts';

describe('afterSignOut', () => {
  test.each([
    ['', { path: '/users/sign_in' }],
    ['/-/bye', { path: '/-/bye' }],
    ['//evil.example', { path: '/' }],
    ['https://example.com/bye', { url: 'https://example.com/bye' }],
    ['http://example.com', { url: 'http://example.com/' }],
    ['javascript:alert(1)', { path: '/users/sign_in' }],
    ['nonsense', { path: '/users/sign_in' }],
  ])('%j', (setting, expected) => {
    expect(afterSignOut(setting)).toEqual(expected);
  });
});

describe('refusal', () => {
  const time = new Date('2030-01-10T00:00:00Z');
  const daysAgo = (days: number) => new Date(time.getTime() - days * 86_400_000);
  const account = { state: 'active', confirmed_at: daysAgo(9), created_at: daysAgo(9) };
  const unconfirmed = { ...account, confirmed_at: null };

  test.each([
    ['active', account, 'hard', undefined],
    ['deactivated', { ...account, state: 'deactivated' }, 'hard', undefined],
    ['unconfirmed, off', unconfirmed, 'off', undefined],
    ['unconfirmed, hard', unconfirmed, 'hard', UNCONFIRMED],
    ['unconfirmed, soft, new', { ...unconfirmed, created_at: daysAgo(2.9) }, 'soft', undefined],
    ['unconfirmed, soft, three days old', { ...unconfirmed, created_at: daysAgo(3) }, 'soft', UNCONFIRMED],
    ['blocked', { ...account, state: 'blocked' }, 'off', expect.stringContaining('blocked')],
    ['banned', { ...account, state: 'banned' }, 'off', expect.stringContaining('blocked')],
    [
      'pending',
      { ...unconfirmed, state: 'blocked_pending_approval' },
      'hard',
      expect.stringContaining('pending'),
    ],
  ] as const)('%s', (_case, user, email_confirmation_setting, expected) => {
    expect(refusal(user, { email_confirmation_setting }, time)).toEqual(expected);
  });
});

test.each([
  [true, true, true],
  [true, false, false],
  [false, true, false],
])('signUpOpen: %s and passwords %s', (signup_enabled, password_authentication_enabled_for_web, open) => {
  expect(signUpOpen({ signup_enabled, password_authentication_enabled_for_web })).toBe(open);
});
