/** Rules of webhooks: addresses with variables, headers, templates and filters (facts-merge-requests: 10.1, 10.4). Pure. */
import { Failure } from '../../../platform/failure.ts';
import { isWebAddress } from '../../../platform/http/web-address.ts';

export const branchFilterStrategies = ['wildcard', 'regex', 'all_branches'] as const;

/** Hooks of one project and of one group (facts: Limits). */
export const MAX_HOOKS = { project: 100, group: 50 } as const;

/** Values by name. */
export type Values = Readonly<Record<string, string>>;
export type Pair = { key: string; value: string };

export const valuesOf = (pairs: readonly Pair[]): Values =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, value]));

/** 422 `{error}`: clients know these refusals by their `error`. */
export const unprocessable = (error: string, message: unknown = error): Failure =>
  new Failure('unprocessable', message as string, { error });

/** 422 with messages by property. */
const refused = (messages: Record<string, string[]>): Failure => new Failure('unprocessable', messages);

const placeholder = /\{([^{}]*)\}/g;
const VARIABLE = /^[A-Za-z][A-Za-z0-9_.-]*$/;

/** The names that the address has values for. */
export const placeholdersOf = (url: string): string[] =>
  [...url.matchAll(placeholder)].map(([, name = '']) => name);

/** The address with the values in it; a name without a value stays. */
export const interpolate = (url: string, variables: Values): string =>
  url.replace(placeholder, (written, name: string) =>
    Object.hasOwn(variables, name) ? (variables[name] ?? '') : written,
  );

/** 422 for an address that is none, with or without its variables, and for names without values. */
export function requireAddress(url: string, variables: Values): void {
  const names = Object.keys(variables);
  if (!names.every((name) => VARIABLE.test(name) && variables[name] !== ''))
    throw refused({ url_variables: ['must be a filename-like name and a value each'] });
  const missing = placeholdersOf(url).filter((name) => !Object.hasOwn(variables, name));
  if (missing.length > 0)
    throw refused({ url: [`Invalid URL template. Missing keys: ${JSON.stringify(missing)}`] });
  const address = interpolate(url, variables);
  if (/[\s\p{Cc}]/u.test(address) || !isWebAddress(address) || !hasGoodCredentials(address))
    throw unprocessable('Invalid url given');
}

/** Whether the name and password in the address, if any, can be sent as a header. */
function hasGoodCredentials(address: string): boolean {
  try {
    splitCredentials(address);
    return true;
  } catch {
    return false;
  }
}

/** Where requests go, as far as others' secrets must not: the server. */
export const originOf = (url: string, variables: Values): string | undefined =>
  URL.parse(interpolate(url, variables))?.origin;

/** The address with its name and password apart, which go as a header. */
export function splitCredentials(address: string): { url: string; authorization?: string } {
  const url = new URL(address);
  const { username, password } = url;
  if (username === '' && password === '') return { url: address };
  url.username = '';
  url.password = '';
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { url: url.href, authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

const HEADER_NAME = /^[A-Za-z](?:[A-Za-z0-9]|[._-](?![._-]))*(?<![._-])$/;
/** Those of the delivery and of the connection. */
const RESERVED =
  /^(?:content-(?:type|length|encoding)|user-agent|idempotency-key|x-gitlab-.*|host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|proxy-.*)$/i;

/** What a header can have as its value. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]+$/;

/** 422 for names and values that are no headers, and for headers of the delivery itself. */
export function requireHeaders(headers: Values): void {
  const isGood = ([name, value]: [string, string]): boolean =>
    HEADER_NAME.test(name) && !RESERVED.test(name) && HEADER_VALUE.test(value);
  if (!Object.entries(headers).every(isGood)) throw unprocessable('Custom headers validation failed');
}

/** The token as it is sent: line breaks come with copying. */
export const sentToken = (token: string): string => token.replace(/[\r\n]/g, '');

/** 422 for a token that no header can have. */
export function requireToken(token: string | null): void {
  if (token !== null && !HEADER_VALUE.test(sentToken(token)))
    throw refused({ token: ['has characters that a header cannot have'] });
}

/** Failures one after the other until a hook is left alone for a while, and for good (facts-merge-requests: 10.3). */
const TOLERATED_FAILURES = 3;
export const MAX_FAILURES = 40;
const FIRST_PAUSE_MS = 60_000;
const MAX_PAUSE_MS = 24 * 3_600_000;

type Health = { recent_failures: number; disabled_until: Date | null };

/** How long the hook is left alone after so many failures; undefined for not at all. */
export function pauseAfter(failures: number): number | undefined {
  if (failures <= TOLERATED_FAILURES) return undefined;
  return Math.min(FIRST_PAUSE_MS * 2 ** (failures - TOLERATED_FAILURES - 1), MAX_PAUSE_MS);
}

export function alertStatus({ recent_failures, disabled_until }: Health, time: Date) {
  if (recent_failures >= MAX_FAILURES) return 'disabled';
  return disabled_until !== null && disabled_until > time ? 'temporarily_disabled' : 'executable';
}

/** Whether a response counts as received: redirects are not followed, and no failure. */
export const isReceived = (status: number): boolean => status >= 200 && status < 400;
