/** Decisions of signing in as pure functions of values: where it may lead, and who is told what. */
import type { ApplicationSettings } from '../../core/settings/definitions.ts';

const NOWHERE = 'http://here.invalid';

/** The path on this site that the text names, or `/`: never another site's address, whatever way it is written. */
export function localPath(text: string): string {
  if (!text.startsWith('/') || text.length > 2_000 || /[\\\p{Cc}]/u.test(text)) return '/';
  const url = URL.parse(text, NOWHERE);
  if (url?.origin !== NOWHERE) return '/';
  const path = url.pathname + url.search + url.hash;
  // `/.//host` resolves to `//host`, which a browser takes for another site.
  return path.startsWith('//') ? '/' : path;
}

/** Where signing out leads: a path on this site, or the address of another that the setting names. */
export function afterSignOut(setting: string): { path: string } | { url: string } {
  if (setting === '') return { path: '/users/sign_in' };
  if (setting.startsWith('/')) return { path: localPath(setting) };
  const url = URL.parse(setting);
  return url?.protocol === 'http:' || url?.protocol === 'https:'
    ? { url: url.href }
    : { path: '/users/sign_in' };
}

/** Days that `soft` confirmation leaves before an address must be confirmed. */
const SOFT_DAYS = 3;

type Account = { state: string; confirmed_at: Date | null; created_at: Date };

const refusedStates: Record<string, string> = {
  blocked: 'Your account has been blocked. Ask an administrator of this site if you think this is an error.',
  banned: 'Your account has been blocked. Ask an administrator of this site if you think this is an error.',
  blocked_pending_approval:
    'Your account is pending approval from an administrator of this site. You can sign in once it is approved.',
};

export const UNCONFIRMED = 'You have to confirm your email address before continuing.';

/** Why somebody with the right password may still not sign in; undefined when they may. Deactivated users may: it wakes them. */
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

/** Whether people may register themselves. An account without a password that works here would be of no use. */
export const signUpOpen = (
  settings: Pick<ApplicationSettings, 'signup_enabled' | 'password_authentication_enabled_for_web'>,
): boolean => settings.signup_enabled && settings.password_authentication_enabled_for_web;
