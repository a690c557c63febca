/** Addresses of repositories on other servers, and the names and passwords in them. Pure. */
import type { OutboundRules } from '../../../platform/outbound/addresses.ts';
import { isReachable } from '../../hooks/index.ts';

export type Credentials = { user: string; password: string };
/** `url` has no name or password. */
export type Address = { url: string; credentials: Credentials | undefined };

const MAX_LENGTH = 2_048;

const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

/** The address as it is kept, or what is wrong with it. */
export function parseAddress(written: string, rules: OutboundRules): Address | { problem: string } {
  const text = written.trim();
  if (text === '') return { problem: "can't be blank" };
  if (text.length > MAX_LENGTH) return { problem: `is too long (maximum is ${MAX_LENGTH} characters)` };
  const url = /[\s\p{Cc}]/u.test(text) ? null : URL.parse(text);
  // `git@host:path` is no URL at all.
  if (
    /^[^/:@\s]+@[^/:\s]+:(?!\/\/)/.test(text) ||
    /^(?:ssh|git|git\+ssh|ssh\+git):/i.test(url?.protocol ?? '')
  )
    return { problem: 'is blocked: Only allowed schemes are http, https' };
  if (!url || url.hostname === '') return { problem: 'is blocked: URI is invalid' };
  if (!/^https?:$/.test(url.protocol)) return { problem: 'is blocked: Only allowed schemes are http, https' };
  if (url.search !== '' || url.hash !== '') return { problem: 'must have no query and no fragment' };
  const [user, password] = [decoded(url.username), decoded(url.password)];
  if (user === undefined || password === undefined)
    return { problem: 'has a name or password that cannot be read' };
  if (!isCredential(user) || user.includes(':') || !isCredential(password))
    return { problem: 'has a name or password that cannot be sent' };
  url.username = '';
  url.password = '';
  if (!isReachable(url.href, rules))
    return { problem: 'is blocked: Requests to the local network are not allowed' };
  return { url: url.href, credentials: user === '' && password === '' ? undefined : { user, password } };
}

/** Whether it can be part of a header. */
export const isCredential = (text: string): boolean => text.length <= 1_024 && !/\p{Cc}/u.test(text);

/** An address below the repository's, as its protocol has them. */
export const below = (url: string, path: string): string => `${url.replace(/\/+$/, '')}/${path}`;

/** The text without what must not be shown: what other servers say may have it in it. */
export function withoutSecrets(text: string, credentials: Credentials | undefined): string {
  let shown = text.replace(/(https?:\/\/)[^\s/@]*@/gi, '$1*****:*****@');
  // A token alone stands in the place of the name.
  for (const secret of credentials ? [credentials.password || credentials.user] : [])
    if (secret.length > 0)
      for (const each of new Set([secret, encodeURIComponent(secret)]))
        shown = shown.replaceAll(each, '*****');
  return shown;
}
