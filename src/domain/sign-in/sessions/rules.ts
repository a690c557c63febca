/** Decisions of signing in as pure functions of values: redirects, and texts. */
import { localPath } from '../../../kernel/api/local-path.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';

const NOWHERE = 'http://here.invalid';

/** The application that a path on this site leads on to, and its redirect URI; undefined for another path. */
export function applicationAt(path: string): { uid: string; redirectUri: string } | undefined {
  const url = URL.parse(path, NOWHERE);
  if (url?.pathname !== '/oauth/authorize') return undefined;
  const [uid, redirectUri] = [url.searchParams.get('client_id'), url.searchParams.get('redirect_uri')];
  return uid && redirectUri && !`${uid}${redirectUri}`.includes('\0') ? { uid, redirectUri } : undefined;
}

/** The source of a content security policy for an address's site or program; empty for one that no browser opens. */
export function formActionOf(redirectUri: string): string {
  const url = URL.parse(redirectUri);
  if (!url || url.protocol === 'urn:') return '';
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.origin : url.protocol;
}

/** The target of signing out: a path on this site, or the address of another that the setting names. */
export function afterSignOut(setting: string): { path: string } | { url: string } {
  if (setting === '') return { path: '/users/sign_in' };
  if (setting.startsWith('/')) return { path: localPath(setting) };
  const url = URL.parse(setting);
  return url?.protocol === 'http:' || url?.protocol === 'https:'
    ? { url: url.href }
    : { path: '/users/sign_in' };
}

/** Whether users may register themselves. An account without a working password would be of no use. */
export const signUpOpen = (
  settings: Pick<ApplicationSettings, 'signup_enabled' | 'password_authentication_enabled_for_web'>,
): boolean => settings.signup_enabled && settings.password_authentication_enabled_for_web;
