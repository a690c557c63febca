import { describe, expect, test } from 'vitest';
import type { Client } from '../protocol/queries.ts';
import {
  type AuthorizationRequest,
  judgeRequest,
  judgeViewer,
  needsConsent,
  queryAfterSignIn,
  readQuery,
  replyUrl,
} from './rules.ts';

const URI = 'https://client.example.org/callback';
const CHALLENGE = 'c'.repeat(43);
const client: Client = {
  id: 1,
  uid: 'client',
  name: 'Client',
  secret_digest: null,
  redirect_uris: [URI, 'https://client.example.org/other?kept=1'],
  scopes: ['api', 'read_user', 'sudo'],
  confidential: true,
  trusted: false,
  dynamic: false,
};
const publicClient: Client = { ...client, confidential: false };
const whole = { client_id: 'client', redirect_uri: URI, response_type: 'code', state: 'st' };
type Changes = Record<string, string | undefined>;

const queryOf = (changes: Changes): string =>
  Object.entries<string | undefined>({ ...whole, ...changes })
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`]))
    .join('&');

/** `page CODE` or `client CODE` for a refusal, or the request. */
function judged(query: string, by: Client | undefined): unknown {
  const verdict = judgeRequest(readQuery(query), by);
  if ('good' in verdict) return verdict.good;
  return `${verdict.replyTo ? 'client' : 'page'} ${verdict.refused.code} ${verdict.refused.message}`;
}

describe('the request', () => {
  test.each<[string, Changes, Client | undefined, RegExp]>([
    ['no client', { client_id: undefined }, undefined, /^page invalid_request .*client_id/],
    ['an empty client', { client_id: '' }, undefined, /^page invalid_request .*client_id/],
    ['an unknown client', {}, undefined, /^page invalid_client/],
    ['no redirect URI', { redirect_uri: undefined }, client, /^page invalid_request .*redirect_uri/],
    ['another path', { redirect_uri: `${URI}/` }, client, /^page invalid_redirect_uri/],
    ['a query of its own', { redirect_uri: `${URI}?x=1` }, client, /^page invalid_redirect_uri/],
    [
      'another case',
      { redirect_uri: 'https://CLIENT.example.org/callback' },
      client,
      /^page invalid_redirect/,
    ],
    ['a longer host', { redirect_uri: 'https://client.example.org.evil.example/callback' }, client, /^page/],
    ['a user in it', { redirect_uri: 'https://client.example.org@evil.example/callback' }, client, /^page/],
    ['a way up', { redirect_uri: 'https://client.example.org/x/../callback' }, client, /^page/],
    ['no response type', { response_type: undefined }, client, /^client invalid_request .*response_type/],
    ['the type token', { response_type: 'token' }, client, /^client unsupported_response_type/],
    ['the mode fragment', { response_mode: 'fragment' }, client, /^client invalid_request .*response_mode/],
    ['a request object', { request: 'e30.e30.' }, client, /^client request_not_supported /],
    ['an address of a request', { request_uri: 'https://x' }, client, /^client request_uri_not_supported /],
    ['an unknown scope', { scope: 'nonsense' }, client, /^client invalid_scope/],
    ['a scope that the client lacks', { scope: 'api openid' }, client, /^client invalid_scope/],
    ['a client without scopes', {}, { ...client, scopes: [] }, /^client invalid_scope/],
    ['a public client without PKCE', {}, publicClient, /^client invalid_request .*code_challenge/],
    ['the challenge alone', { code_challenge: CHALLENGE }, client, /^client invalid_request .*S256/],
    [
      'plain',
      { code_challenge: CHALLENGE, code_challenge_method: 'plain' },
      client,
      /^client invalid_request .*S256/,
    ],
    ['a method alone', { code_challenge_method: 'S256' }, client, /^client invalid_request .*code_challenge/],
    [
      'a short challenge',
      { code_challenge: 'c'.repeat(42), code_challenge_method: 'S256' },
      client,
      /^client invalid_request .*code_challenge/,
    ],
    ['an unknown prompt', { prompt: 'create' }, client, /^client invalid_request .*prompt/],
    ['none and more', { prompt: 'none login' }, client, /^client invalid_request .*prompt/],
    ['a negative age', { max_age: '-1' }, client, /^client invalid_request .*max_age/],
    ['an age in words', { max_age: 'old' }, client, /^client invalid_request .*max_age/],
    ['a long nonce', { nonce: 'n'.repeat(4_097) }, client, /^client invalid_request .*nonce/],
  ])('%s is refused', (_name, changes, by, expected) => {
    expect(judged(queryOf(changes), by)).toMatch(expected);
  });

  test.each([
    ['client_id', /^page invalid_request Repeated parameter: client_id/],
    ['redirect_uri', /^page invalid_request Repeated parameter: redirect_uri/],
    ['scope', /^client invalid_request Repeated parameter: scope/],
    ['state', /^client invalid_request Repeated parameter: state/],
    ['unknown', /^client invalid_request Repeated parameter: unknown/],
  ])('%s twice is refused', (name, expected) => {
    expect(judged(`${queryOf({ scope: 'api', unknown: 'x' })}&${name}=again`, client)).toMatch(expected);
  });

  test('in order, it says what is asked', () => {
    const parameters = {
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
      nonce: 'n',
      max_age: '60',
    };
    expect(
      judged(queryOf({ ...parameters, scope: 'sudo read_user sudo', prompt: 'login consent' }), publicClient),
    ).toEqual({
      client: publicClient,
      redirectUri: URI,
      state: 'st',
      scopes: ['sudo', 'read_user'],
      codeChallenge: CHALLENGE,
      nonce: 'n',
      prompt: new Set(['login', 'consent']),
      maxAge: 60,
    });
    expect(judged(queryOf({ state: undefined }), client)).toMatchObject({
      state: undefined,
      scopes: ['api'],
      codeChallenge: null,
    });
  });
});

const time = new Date('2026-01-01T00:01:00Z');
const asking = (changes: Partial<AuthorizationRequest>): AuthorizationRequest => ({
  ...{ client, redirectUri: URI, state: undefined, scopes: ['read_user'], codeChallenge: null, nonce: null },
  ...{ prompt: new Set(), maxAge: undefined },
  ...changes,
});
const user = { admin: false, authenticatedAt: new Date('2026-01-01T00:00:00Z') };
const admin = { ...user, admin: true };

test.each<[string, Partial<AuthorizationRequest>, typeof user | undefined, boolean, string]>([
  ['nobody', {}, undefined, false, 'sign_in'],
  ['nobody, and none may be asked', { prompt: new Set(['none']) }, undefined, false, 'login_required'],
  ['a user', {}, user, false, 'consent'],
  ['a user, asked to sign in', { prompt: new Set(['login']) }, user, false, 'sign_in'],
  ['a session as old as may be', { maxAge: 60 }, user, false, 'consent'],
  ['a session that is too old', { maxAge: 59 }, user, false, 'sign_in'],
  ['too old, none', { maxAge: 59, prompt: new Set(['none']) }, user, false, 'login_required'],
  ['sudo by a user', { scopes: ['sudo'] }, user, false, 'invalid_scope'],
  ['admin_mode by a user', { scopes: ['api', 'admin_mode'] }, user, false, 'invalid_scope'],
  ['read_service_ping by a user', { scopes: ['read_service_ping'] }, user, false, 'invalid_scope'],
  ['sudo by an administrator', { scopes: ['sudo'] }, admin, false, 'consent'],
  ['api by an administrator, disabled', { scopes: ['api'] }, admin, true, 'invalid_scope'],
  ['read_user by an administrator, disabled', {}, admin, true, 'consent'],
  ['api by a user, disabled', { scopes: ['api'] }, user, true, 'consent'],
  [
    'a trusted application, disabled',
    { scopes: ['api'], client: { ...client, trusted: true } },
    admin,
    true,
    'consent',
  ],
])('%s', (_name, requested, viewer, disable_admin_oauth_scopes, expected) => {
  const step = judgeViewer(asking(requested), viewer, { disable_admin_oauth_scopes }, time);
  expect(typeof step === 'object' ? step.refused.code : step).toBe(expected);
});

test.each<[string, Partial<Client>, AuthorizationRequest['prompt'], boolean, boolean]>([
  ['a stranger', {}, new Set(), false, true],
  ['approved before', {}, new Set(), true, false],
  ['approved before, to be asked', {}, new Set(['consent']), true, true],
  ['trusted', { trusted: true }, new Set(), false, false],
  ['trusted, to be asked', { trusted: true }, new Set(['consent']), false, true],
  ['public, approved before', { confidential: false }, new Set(), true, true],
  ['public and trusted', { confidential: false, trusted: true }, new Set(), true, true],
])('consent: %s', (_name, changes, prompt, before, expected) => {
  expect(needsConsent(asking({ client: { ...client, ...changes }, prompt }), before)).toBe(expected);
});

test.each([
  ['a=1&prompt=login&state=%7e+x', 'a=1&state=%7e+x'],
  ['prompt=login+consent&max_age=0&b', 'prompt=consent&b'],
  ['pr%6fmpt=login&a=1', 'a=1'],
  ['prompt=none', 'prompt=none'],
  ['', ''],
])('after sign-in %s is %s', (query, expected) => {
  expect(queryAfterSignIn(query)).toBe(expected);
});

test.each([
  ['https://c.example/cb', 'https://c.example/cb?code=x&state=s&iss=i'],
  ['https://c.example/cb?kept=%7e+1', 'https://c.example/cb?kept=%7e+1&code=x&state=s&iss=i'],
  ['https://c.example/cb?', 'https://c.example/cb?code=x&state=s&iss=i'],
  ['com.example.app:/cb', 'com.example.app:/cb?code=x&state=s&iss=i'],
])('the answer at %s keeps what was registered', (redirectUri, expected) => {
  expect(replyUrl({ redirectUri, state: 's' }, 'i', { code: 'x' })).toBe(expected);
  expect(replyUrl({ redirectUri, state: 's' }, undefined, { code: 'x' })).toBe(
    expected.replace('&iss=i', ''),
  );
});
