import { describe, expect, test } from 'vitest';
import { decideScopes } from '../protocol/scopes.ts';
import {
  type CodeGrant,
  challengeOf,
  type Device,
  isChallenge,
  judgeCode,
  judgeDevice,
  judgeRefresh,
  narrowScopes,
  type RefreshGrant,
  type Verdict,
} from './rules.ts';

const TIME = new Date('2026-01-01T12:00:00Z');
const BEFORE = new Date('2026-01-01T11:59:59Z');
const LATER = new Date('2026-01-01T12:00:01Z');
const VERIFIER = 'a'.repeat(43);
const OTHER = 'b'.repeat(43);

const outcome = (verdict: Verdict): string =>
  verdict === 'good' ? 'good' : `${verdict.refused.code}${verdict.replayed ? ' replayed' : ''}`;

test('the challenge is the one of RFC 7636, appendix B', () => {
  expect(challengeOf('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk')).toBe(
    'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  );
});

test.each([
  ['E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', true],
  ['E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-c', false],
  ['E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM=', false],
  ['E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw+cM', false],
  ['', false],
])('a challenge %j is one: %j', (text, is) => expect(isChallenge(text)).toBe(is));

describe('a code', () => {
  const grant: CodeGrant = {
    application_id: 1,
    user_id: 7,
    user_state: 'active',
    revoked_at: null,
    redirect_uri: 'https://client.example/back',
    code_challenge: challengeOf(VERIFIER),
    code_expires_at: LATER,
    code_used_at: null,
  };
  const presented = { clientId: 1, redirectUri: 'https://client.example/back', verifier: VERIFIER };
  const plain = { code_challenge: null };
  const cases: [
    string,
    Partial<CodeGrant> | null,
    Partial<Record<keyof typeof presented, unknown>>,
    string,
  ][] = [
    ['as it was asked for', {}, {}, 'good'],
    ['without PKCE', plain, { verifier: undefined }, 'good'],
    ['unknown', null, {}, 'invalid_grant'],
    ['of another client', {}, { clientId: 2 }, 'invalid_grant'],
    ['used by another client after it was used', { code_used_at: BEFORE }, { clientId: 2 }, 'invalid_grant'],
    ['used', { code_used_at: BEFORE }, {}, 'invalid_grant replayed'],
    ['used and expired', { code_used_at: BEFORE, code_expires_at: BEFORE }, {}, 'invalid_grant replayed'],
    ['expired', { code_expires_at: TIME }, {}, 'invalid_grant'],
    ['revoked', { revoked_at: BEFORE }, {}, 'invalid_grant'],
    ['of a blocked user', { user_state: 'blocked' }, {}, 'invalid_grant'],
    ['of a user who is being deleted', { user_state: null }, {}, 'invalid_grant'],
    ['with another redirect URI', {}, { redirectUri: 'https://client.example/back/' }, 'invalid_grant'],
    ['without the redirect URI', {}, { redirectUri: undefined }, 'invalid_request'],
    ['with another verifier', {}, { verifier: OTHER }, 'invalid_grant'],
    ['with the challenge for a verifier', {}, { verifier: challengeOf(VERIFIER) }, 'invalid_grant'],
    [
      'with a short verifier',
      { code_challenge: challengeOf('short') },
      { verifier: 'short' },
      'invalid_grant',
    ],
    ['without the verifier', {}, { verifier: undefined }, 'invalid_request'],
    ['whose challenge was taken away', plain, {}, 'invalid_grant'],
  ];
  test.each(cases)('%s', (_, change, said, expected) => {
    const stored = change === null ? undefined : { ...grant, ...change };
    expect(outcome(judgeCode(stored, { ...presented, ...said } as typeof presented, TIME))).toBe(expected);
  });
});

describe('a refresh token', () => {
  const grant: RefreshGrant = {
    application_id: 1,
    user_id: 7,
    user_state: 'active',
    revoked_at: null,
    redirect_uri: 'https://client.example/back',
    code_challenge: challengeOf(VERIFIER),
    used_at: null,
  };
  const presented = { clientId: 1, redirectUri: undefined, verifier: undefined, arrivedAt: TIME };
  const cases: [string, Partial<RefreshGrant> | null, Record<string, unknown>, string][] = [
    ['alone', {}, {}, 'good'],
    ['with redirect URI and verifier', {}, { redirectUri: grant.redirect_uri, verifier: VERIFIER }, 'good'],
    ['of the password grant of nobody in particular', { application_id: null }, { clientId: null }, 'good'],
    ['with a verifier that nothing was asked of', { code_challenge: null }, { verifier: VERIFIER }, 'good'],
    ['unknown', null, {}, 'invalid_grant'],
    ['of another client', {}, { clientId: 2 }, 'invalid_grant'],
    ['of a client that is not named', {}, { clientId: null }, 'invalid_grant'],
    ['used', { used_at: BEFORE }, {}, 'invalid_grant replayed'],
    ['used while it was on its way', { used_at: TIME }, {}, 'invalid_grant'],
    ['used after it arrived', { used_at: LATER }, {}, 'invalid_grant'],
    ['used, by another client', { used_at: BEFORE }, { clientId: 2 }, 'invalid_grant'],
    ['of a revoked grant', { revoked_at: BEFORE }, {}, 'invalid_grant'],
    ['of a blocked user', { user_state: 'blocked' }, {}, 'invalid_grant'],
    ['with another redirect URI', {}, { redirectUri: 'https://evil.example' }, 'invalid_grant'],
    ['with another verifier', {}, { verifier: OTHER }, 'invalid_grant'],
  ];
  test.each(cases)('%s', (_, change, said, expected) => {
    const stored = change === null ? undefined : { ...grant, ...change };
    const requested = { ...presented, ...said } as Parameters<typeof judgeRefresh>[1];
    expect(outcome(judgeRefresh(stored, requested))).toBe(expected);
  });
});

describe('a device code (spec: States and transitions)', () => {
  const device: Device = { application_id: 1, state: 'authorized', expires_at: LATER, user_state: 'active' };
  const cases: [string, Partial<Device> | null, string][] = [
    ['authorized', {}, 'good'],
    ['pending', { state: 'pending', user_state: null }, 'authorization_pending'],
    ['denied', { state: 'denied' }, 'access_denied'],
    ['expired', { expires_at: TIME }, 'expired_token'],
    ['pending and expired', { state: 'pending', expires_at: BEFORE }, 'expired_token'],
    ['redeemed', { state: 'redeemed' }, 'invalid_grant'],
    ['unknown', null, 'invalid_grant'],
    ['of another client', { application_id: 2 }, 'invalid_grant'],
    ['of a user who was blocked since', { user_state: 'blocked' }, 'access_denied'],
  ];
  test.each(cases)('%s', (_, change, expected) => {
    expect(outcome(judgeDevice(change === null ? undefined : { ...device, ...change }, 1, TIME))).toBe(
      expected,
    );
  });
});

describe('scopes', () => {
  test.each([
    [undefined, ['api', 'read_user'], ['api']],
    ['', ['api', 'read_user'], ['api']],
    [undefined, ['read_user', 'openid'], ['read_user', 'openid']],
    ['openid  profile openid', ['api', 'openid', 'profile'], ['openid', 'profile']],
    ['api sudo', ['api'], undefined],
    ['API', ['api'], undefined],
  ])('asked %j of %j', (requested, available, expected) =>
    expect(decideScopes(requested, available)).toEqual(expected),
  );

  test.each([
    [undefined, ['api', 'openid']],
    ['openid', ['openid']],
    ['openid sudo', undefined],
  ])('a refresh asks %j', (requested, expected) =>
    expect(narrowScopes(requested, ['api', 'openid'])).toEqual(expected),
  );
});
