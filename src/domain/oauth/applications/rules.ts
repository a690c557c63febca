/** The rules for registering an application, and the grants that a change ends, as pure functions. */

import type { ValidationMessages } from '../../../platform/failure.ts';
import { OUT_OF_BAND } from '../authorization/rules.ts';
import { applicationScopes, splitScopes } from '../protocol/scopes.ts';

/** A request for an application: redirect URIs and scopes as one text each, separated by white space. */
export type ApplicationRequest = {
  name: string;
  redirectUris: string;
  scopes: string;
  confidential: boolean;
};

/** The same, validated. */
export type ApplicationDraft = {
  name: string;
  redirect_uris: string[];
  scopes: string[];
  confidential: boolean;
};

const MAX_URIS = 100;
const MAX_URI_LENGTH = 2_048;
export const MAX_NAME_LENGTH = 255;

/** The characters of a URI (RFC 3986, section 2). */
const LETTERS = /^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+$/;
const LOOPBACK: readonly string[] = ['127.0.0.1', '[::1]', 'localhost'];
/** Schemes with which a browser makes no request: it runs, shows or opens their content. */
const FORBIDDEN: readonly string[] = [
  ...['javascript', 'data', 'vbscript', 'about', 'blob', 'file', 'filesystem', 'view-source'],
  ...['ftp', 'mailto', 'ws', 'wss'],
];

/** The fault of a redirect URI, in the public words; undefined when it may be registered (RFC 9700, section 4.1.3). */
export function redirectUriProblem(uri: string, plainHttpAllowed: boolean): string | undefined {
  if (uri === OUT_OF_BAND) return undefined;
  if (uri.length > MAX_URI_LENGTH) return `is too long (maximum is ${MAX_URI_LENGTH} characters)`;
  if (!LETTERS.test(uri)) return 'must be a valid URI.';
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(uri)?.[1]?.toLowerCase();
  if (scheme === undefined) return 'must be an absolute URI.';
  if (FORBIDDEN.includes(scheme)) return 'is forbidden by the server.';
  if (uri.includes('#')) return 'cannot contain a fragment.';
  const web = scheme === 'https' || scheme === 'http';
  // `localhost:3000/x` is a scheme and a path to a parser, and a host to its author.
  if (!web && (scheme === 'localhost' || !uri.startsWith(':/', scheme.length)))
    return 'must specify a scheme.';
  if (web && !/^https?:\/\/[^/]/i.test(uri)) return 'must be an absolute URI.';
  const url = URL.parse(uri);
  if (!url) return 'must be a valid URI.';
  // People read the text before an @ as the host; no program does.
  if (url.username !== '' || url.password !== '') return 'is forbidden by the server.';
  if (scheme === 'http' && !plainHttpAllowed && !LOOPBACK.includes(url.hostname)) {
    return 'must be an HTTPS/SSL URI.';
  }
  return undefined;
}

/** The faults of a list of redirect URIs, each sentence once; empty when there are none. */
export function redirectUriProblems(uris: readonly string[], plainHttpAllowed: boolean): string[] {
  if (uris.length === 0) return ["can't be blank"];
  if (uris.length > MAX_URIS) return [`has too many addresses (maximum is ${MAX_URIS})`];
  const problems = uris.map((uri) => redirectUriProblem(uri, plainHttpAllowed));
  return [...new Set(problems.filter((problem) => problem !== undefined))];
}

const ADDRESS =
  "[A-Za-z][A-Za-z0-9+.-]*:/{1,2}(?:[A-Za-z0-9.-]+|\\[[0-9A-Fa-f:.]+\\])(?::[0-9]{1,5})?(?:[/?][A-Za-z0-9._~:/?@!$&'()*+,;=%\\[\\]-]*)?";
/** Pattern for a text of redirect URIs; some that match are refused all the same. */
export const redirectUrisPattern = `^\\s*${ADDRESS}(?:\\s+${ADDRESS})*\\s*$`;
/** Pattern for a text of scopes. */
export const scopesPattern = `^\\s*(?:${applicationScopes.join('|')})(?:\\s+(?:${applicationScopes.join('|')}))*\\s*$`;

/** Control characters, and marks that turn the text around them: a name could read as more than a name. */
const UNREADABLE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/** The faults of the name that the consent page shows; empty when there are none. */
export function nameProblems(name: string): string[] {
  if (name === '') return ["can't be blank"];
  if (UNREADABLE.test(name)) return ['contains characters that are not allowed'];
  return name.length > MAX_NAME_LENGTH ? [`is too long (maximum is ${MAX_NAME_LENGTH} characters)`] : [];
}

function scopeProblems(scopes: readonly string[]): string[] {
  if (scopes.length === 0) return ["can't be blank"];
  const known: readonly string[] = applicationScopes;
  return scopes.every((scope) => known.includes(scope)) ? [] : ["doesn't match configured on the server."];
}

/** The application as it can be stored, each URI and scope once, or all faults by property (facts §8). */
export function checkApplication(
  request: ApplicationRequest,
  plainHttpAllowed: boolean,
): { draft: ApplicationDraft } | { problems: ValidationMessages } {
  const draft = {
    name: request.name.trim(),
    redirect_uris: [...new Set(request.redirectUris.split(/\s+/).filter(Boolean))],
    scopes: splitScopes(request.scopes),
    confidential: request.confidential,
  };
  const checked = {
    name: nameProblems(draft.name),
    redirect_uri: redirectUriProblems(draft.redirect_uris, plainHttpAllowed),
    scopes: scopeProblems(draft.scopes),
  };
  const problems = Object.entries(checked).filter(([, texts]) => texts.length > 0);
  return problems.length === 0 ? { draft } : { problems: Object.fromEntries(problems) };
}

/** The grants that a change of an application ends. */
export type Ends = {
  /** Everything: the client keeps no secret any more, and earlier grants relied on it. */
  all: boolean;
  /** Grants that have more than these scopes, and codes under way to other addresses than these. */
  beyond: { scopes: string[]; redirect_uris: string[] };
};

/**
 * A change to a public client ends all; else grants beyond the new scopes, and codes on their way to removed
 * addresses.
 */
export const endsOf = (before: { confidential: boolean }, after: ApplicationDraft): Ends => ({
  all: before.confidential && !after.confidential,
  beyond: { scopes: after.scopes, redirect_uris: after.redirect_uris },
});
