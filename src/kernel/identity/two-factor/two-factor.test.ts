import { describe, expect, test } from 'vitest';
import { type TwoFactorColumns, twoFactorDuty } from './two-factor.ts';

const time = new Date('2030-01-10T12:00:00Z');
const hoursAgo = (hours: number) => new Date(time.getTime() - hours * 3_600_000);
const nobody = { require_two_factor_authentication: false, two_factor_grace_period: 48 };
const everybody = { require_two_factor_authentication: true, two_factor_grace_period: 48 };
const without: TwoFactorColumns = { otp_enabled_at: null, otp_required_since: null, group_grace_hours: null };

describe('twoFactorDuty', () => {
  test.each([
    ['not required', without, nobody, { kind: 'none' }],
    ['required, and there', { ...without, otp_enabled_at: time }, everybody, { kind: 'none' }],
    ['required from now on', without, everybody, { kind: 'due', until: hoursAgo(-48) }],
    [
      'within grace',
      { ...without, otp_required_since: hoursAgo(47) },
      everybody,
      { kind: 'due', until: hoursAgo(-1) },
    ],
    ['grace is over', { ...without, otp_required_since: hoursAgo(48) }, everybody, { kind: 'overdue' }],
    ['no grace at all', without, { ...everybody, two_factor_grace_period: 0 }, { kind: 'overdue' }],
    [
      'required by a group',
      { ...without, group_grace_hours: 2 },
      nobody,
      { kind: 'due', until: hoursAgo(-2) },
    ],
    [
      'the shorter grace counts',
      { ...without, otp_required_since: hoursAgo(3), group_grace_hours: 2 },
      everybody,
      { kind: 'overdue' },
    ],
  ])('%s', (_case, user, settings, expected) => {
    expect(twoFactorDuty(user, settings, time)).toEqual(expected);
  });
});
