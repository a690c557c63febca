/** The two-factor requirement and its columns. Pure. */
import type { ApplicationSettings } from '../../settings/definitions.ts';

/** The columns of a user without two-factor authentication. */
export const noTwoFactor = {
  otp_secret_sealed: null,
  otp_enabled_at: null,
  otp_last_step: null,
  otp_recovery_digests: [],
} satisfies Record<string, null | []>;

/** The columns that the requirement depends on. */
export type TwoFactorColumns = {
  otp_enabled_at: Date | null;
  /** Time of the first request under the requirement. */
  otp_required_since: Date | null;
  /** The shortest grace period, in hours, of the groups that require it; null without one. */
  group_grace_hours: number | null;
};

/** `due`: must be set up until then. `overdue`: the session is good for nothing but the setup. */
export type TwoFactorDuty = { kind: 'none' } | { kind: 'due'; until: Date } | { kind: 'overdue' };

type Requirement = Pick<ApplicationSettings, 'require_two_factor_authentication' | 'two_factor_grace_period'>;

/** The shortest grace period that applies, in hours; undefined without a requirement. */
export function twoFactorGrace(user: TwoFactorColumns, settings: Requirement): number | undefined {
  const instance = settings.require_two_factor_authentication ? [settings.two_factor_grace_period] : [];
  const groups = user.group_grace_hours === null ? [] : [user.group_grace_hours];
  const grace = Math.min(...instance, ...groups);
  return Number.isFinite(grace) ? grace : undefined;
}

export function twoFactorDuty(user: TwoFactorColumns, settings: Requirement, time: Date): TwoFactorDuty {
  const grace = twoFactorGrace(user, settings);
  if (grace === undefined || user.otp_enabled_at !== null) return { kind: 'none' };
  const until = new Date((user.otp_required_since ?? time).getTime() + grace * 3_600_000);
  return until <= time ? { kind: 'overdue' } : { kind: 'due', until };
}
