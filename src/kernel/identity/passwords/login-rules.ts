/** Reasons that refuse a sign-in with a right password. Pure. */
import type { ApplicationSettings } from '../../settings/definitions.ts';

export const PASSWORD_OFF =
  'The group that your account belongs to has turned off signing in with a password.';

/** Days that `soft` confirmation leaves before an address must be confirmed. */
const SOFT_DAYS = 3;

type Account = { state: string; confirmed_at: Date | null; created_at: Date };

const refusedStates: Record<string, string> = {
  blocked: 'Your account has been blocked. Ask an administrator of this site if you think this is an error.',
  banned: 'Your account has been blocked. Ask an administrator of this site if you think this is an error.',
  blocked_pending_approval:
    'Your account is pending approval from an administrator of this site. You can sign in once it is approved.',
};

export const isBlocked = (state: string): boolean => Object.hasOwn(refusedStates, state);

export const UNCONFIRMED = 'You have to confirm your email address before continuing.';

/** Why the account may not sign in, if so. Deactivated accounts may: signing in reactivates them. */
export function refusal(
  account: Account,
  settings: Pick<ApplicationSettings, 'email_confirmation_setting'>,
  time: Date,
): string | undefined {
  const refused = refusedStates[account.state];
  if (refused !== undefined) return refused;
  if (account.confirmed_at !== null || settings.email_confirmation_setting === 'off') return undefined;
  const age = time.getTime() - account.created_at.getTime();
  const tolerated = settings.email_confirmation_setting === 'soft' && age < SOFT_DAYS * 86_400_000;
  return tolerated ? undefined : UNCONFIRMED;
}
