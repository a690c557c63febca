/**
 * Decisions of GET and POST /oauth/authorize, as pure functions of the request's query (RFC 6749, 7636, 9207,
 * 9700).
 */
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { isChallenge } from '../grants/rules.ts';
import { missing, OAuthError } from '../protocol/endpoint.ts';
import type { Client } from '../protocol/queries.ts';
import { scopeRefusal } from '../protocol/scope-rules.ts';
import { decideScopes } from '../protocol/scopes.ts';

/** For clients that cannot receive a redirect: the code is shown on a page. */
export const OUT_OF_BAND = 'urn:ietf:wg:oauth:2.0:oob';

const MAX_PARAMETER_LENGTH = 4_096;

/** Parameters, and the errors of some; one without a value is absent (RFC 6749, section 3.1). */
export type AuthorizeParameters = { values: Map<string, string>; wrong: Map<string, OAuthError> };

const invalidRequest = (description: string): OAuthError =>
  new OAuthError('invalid_request', { description });

/** Reads the query of a request; never fails, errors stand in the result. */
export function readQuery(query: string): AuthorizeParameters {
  const values = new Map<string, string>();
  const wrong = new Map<string, OAuthError>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (value === '') continue;
    // Half of a surrogate pair cannot stand in an address.
    const shown = name.slice(0, 100).toWellFormed();
    if (values.has(name)) wrong.set(name, invalidRequest(`Repeated parameter: ${shown}.`));
    else if (value.length > MAX_PARAMETER_LENGTH || value.includes('\0'))
      wrong.set(name, invalidRequest(`Invalid parameter: ${shown}.`));
    values.set(name, value);
  }
  return { values, wrong };
}

/** The client's address for the response, and the state that goes back with it. */
export type ReplyTo = { redirectUri: string; state: string | undefined };

const prompts = ['none', 'login', 'consent'] as const;
export type Prompt = (typeof prompts)[number];

/** A valid request, whoever its user is. */
export type AuthorizationRequest = ReplyTo & {
  client: Client;
  scopes: string[];
  codeChallenge: string | null;
  nonce: string | null;
  prompt: ReadonlySet<Prompt>;
  /** Seconds since the user signed in, at most. */
  maxAge: number | undefined;
};

/** Without `replyTo` the refusal is for the user alone: the client is not proved. */
export type Refused = { refused: OAuthError; replyTo: ReplyTo | undefined };
export type Judged = { good: AuthorizationRequest } | Refused;

/**
 * The redirect URI, where it is one of the client's, character by character (RFC 9700, section 4.1.3); throws
 * otherwise.
 */
function proveRedirect({ values, wrong }: AuthorizeParameters, client: Client | undefined): string {
  for (const name of ['client_id', 'redirect_uri']) {
    const error = wrong.get(name) ?? (values.has(name) ? undefined : missing(name));
    if (error) throw error;
  }
  if (!client) throw new OAuthError('invalid_client');
  const redirectUri = values.get('redirect_uri');
  if (redirectUri === undefined || !client.redirect_uris.includes(redirectUri))
    throw new OAuthError('invalid_redirect_uri');
  return redirectUri;
}

/** The challenge, by S256 alone; null where a client that has a secret sends none. Throws on any other. */
function judgeChallenge(values: AuthorizeParameters['values'], client: Client): string | null {
  const challenge = values.get('code_challenge');
  const method = values.get('code_challenge_method');
  if (challenge === undefined) {
    if (method !== undefined || !client.confidential) throw missing('code_challenge');
    return null;
  }
  // Without a method the standard means `plain`, which anyone who sees the request can answer.
  if (method !== 'S256') throw invalidRequest('The code_challenge_method must be S256.');
  if (!isChallenge(challenge)) throw invalidRequest('Invalid parameter: code_challenge.');
  return challenge;
}

const isPrompt = (word: string): word is Prompt => prompts.some((prompt) => prompt === word);

function judgePrompt(text: string | undefined): Set<Prompt> {
  // To choose an account is to sign in to it.
  const words = (text ?? '')
    .split(' ')
    .filter(Boolean)
    .map((word) => (word === 'select_account' ? 'login' : word));
  const known = new Set(words.filter(isPrompt));
  if (!words.every(isPrompt) || (known.has('none') && known.size > 1))
    throw invalidRequest('Invalid parameter: prompt.');
  return known;
}

function judgeMaxAge(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,10}$/.test(text)) throw invalidRequest('Invalid parameter: max_age.');
  return Number(text);
}

/** Judges all but the redirect; throws the error for the client. */
function judgeRest(
  { values, wrong }: AuthorizeParameters,
  client: Client,
): Omit<AuthorizationRequest, keyof ReplyTo> {
  const [error] = wrong.values();
  if (error) throw error;
  // First: the other parameters of such a request are elsewhere (OpenID Connect Core, section 6).
  for (const name of ['request', 'request_uri'] as const)
    if (values.has(name)) throw new OAuthError(`${name}_not_supported`);
  const type = values.get('response_type');
  if (type === undefined) throw missing('response_type');
  if (type !== 'code') throw new OAuthError('unsupported_response_type');
  if ((values.get('response_mode') ?? 'query') !== 'query')
    throw invalidRequest('The response_mode must be query.');
  const codeChallenge = judgeChallenge(values, client);
  const scopes = decideScopes(values.get('scope'), client.scopes);
  if (!scopes || scopes.length === 0) throw new OAuthError('invalid_scope');
  return {
    client,
    scopes,
    codeChallenge,
    nonce: values.get('nonce') ?? null,
    prompt: judgePrompt(values.get('prompt')),
    maxAge: judgeMaxAge(values.get('max_age')),
  };
}

/** Judges a request; the client is that of its client_id, undefined where there is none. */
export function judgeRequest(parameters: AuthorizeParameters, client: Client | undefined): Judged {
  let replyTo: ReplyTo | undefined;
  try {
    const redirectUri = proveRedirect(parameters, client);
    // A repeated or too long state is not sent back.
    const state = parameters.wrong.has('state') ? undefined : parameters.values.get('state');
    replyTo = { redirectUri, state };
    if (!client) throw new OAuthError('invalid_client');
    return { good: { ...replyTo, ...judgeRest(parameters, client) } };
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    return { refused: error, replyTo };
  }
}

/** The user who would approve: undefined when none is signed in. */
export type Viewer = { admin: boolean; authenticatedAt: Date };

/** The next step: proof of the user's identity, or the consent page. */
export type Step = 'sign_in' | 'consent';

/** Whether the user may give these scopes, and must sign in anew (OpenID Connect Core, section 3.1.2.1). */
export function judgeViewer(
  requested: AuthorizationRequest,
  viewer: Viewer | undefined,
  settings: Pick<ApplicationSettings, 'disable_admin_oauth_scopes'>,
  time: Date,
): Step | { refused: OAuthError } {
  const { prompt, maxAge, client, scopes } = requested;
  const age = viewer === undefined ? Infinity : time.getTime() - viewer.authenticatedAt.getTime();
  const stale = prompt.has('login') || (maxAge !== undefined && age > maxAge * 1_000);
  if (viewer === undefined || stale)
    return prompt.has('none') ? { refused: new OAuthError('login_required') } : 'sign_in';
  const { admin } = viewer;
  const description = scopeRefusal(scopes, { admin, trusted: client.trusted }, settings);
  return description === undefined
    ? 'consent'
    : { refused: new OAuthError('invalid_scope', { description }) };
}

/**
 * Whether the user must consent. Any program can pose as a public client, so its user always must (RFC 9700,
 * section 4.1.3); others need not for scopes that they have approved, nor for trusted applications.
 */
export function needsConsent(requested: AuthorizationRequest, approvedBefore: boolean): boolean {
  const { client, prompt } = requested;
  if (prompt.has('consent') || !client.confidential) return true;
  return !client.trusted && !approvedBefore;
}

/**
 * The query without the parts that a sign-in fulfils, which would ask for it for ever. The rest stays as it
 * was sent.
 */
export function queryAfterSignIn(query: string): string {
  const kept = query.split('&').flatMap((piece) => {
    const [[name, value] = ['', '']] = new URLSearchParams(piece);
    if (name === 'max_age') return [];
    if (name !== 'prompt') return [piece];
    const rest = value.split(' ').filter((word) => word !== 'login');
    return rest.length === 0 ? [] : [`prompt=${encodeURIComponent(rest.join(' '))}`];
  });
  return kept.join('&');
}

/**
 * The client's address with the response behind its own query (RFC 6749, 4.1.2), and with the issuer where
 * one is given (RFC 9207).
 */
export function replyUrl(
  replyTo: ReplyTo,
  iss: string | undefined,
  response: Record<string, string>,
): string {
  const { redirectUri, state } = replyTo;
  const pairs = Object.entries({
    ...response,
    ...(state !== undefined && { state }),
    ...(iss !== undefined && { iss }),
  });
  const text = pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
  if (!redirectUri.includes('?')) return `${redirectUri}?${text}`;
  return `${redirectUri}${/[?&]$/.test(redirectUri) ? '' : '&'}${text}`;
}
