/** Identities as applications read them: tokens checked against the published keys, userinfo, discovery, rotation. */
import {
  createLocalJWKSet,
  decodeProtectedHeader,
  type JSONWebKeySet,
  type JWTPayload,
  jwtVerify,
} from 'jose';
import { describe, expect, inject, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { addMember, bodyOf, makeGroup, makeUser } from '../../../../test/support/factories.ts';
import { type MadeApplication, makeApplication } from '../../../../test/support/oauth.ts';
import { moveClock, now } from '../../../platform/clock.ts';
import { inTransaction, openDatabase } from '../../../platform/db/database.ts';
import { digest } from '../../../platform/secret.ts';
import { insertGrant, newSecret } from '../grants/actions.ts';
import { dropRetiredKeys, rotateSigningKey, signingKey } from './signing-key-actions.ts';

const ashlar = useApp();
const services = () => ashlar.app.services;
const db = () => services().database.db;
const get = (path: string, headers: Record<string, string> = {}, query = '') =>
  ashlar.call(`GET ${path}`, { raw: true, headers, query });
const post = (path: string, fields: Record<string, string>) =>
  ashlar.call(`POST ${path}`, { raw: true, form: new URLSearchParams(fields).toString() });
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const keys = async (): Promise<JSONWebKeySet> => bodyOf(await get('/oauth/discovery/keys'), 200);
const signedIn = new Date('2026-01-02T03:04:05Z');

/** The token response to a code that the user has approved. */
async function exchange(
  application: MadeApplication,
  userId: number,
  scopes: string[],
  nonce: string | null = null,
) {
  const code = newSecret();
  const redirect_uri = application.redirectUri;
  const requested = { value: code, redirect_uri, code_challenge: null, nonce };
  const grant = {
    kind: 'authorization_code',
    application_id: application.id,
    user_id: userId,
    scopes,
  } as const;
  await inTransaction(db(), (tx) =>
    insertGrant(tx, { ...grant, authenticated_at: signedIn, code: requested }),
  );
  const client = { client_id: application.uid, client_secret: application.secret };
  const response = await post('/oauth/token', {
    grant_type: 'authorization_code',
    code,
    redirect_uri,
    ...client,
  });
  return bodyOf(response, 200);
}

/** The claims of an identity token that a strict client accepts. */
async function verify(token: string, audience: string, jwks?: JSONWebKeySet): Promise<JWTPayload> {
  const checks = { issuer: ashlar.url, audience, algorithms: ['RS256'], currentDate: now() };
  const { payload } = await jwtVerify(token, createLocalJWKSet(jwks ?? (await keys())), checks);
  return payload;
}

const openid = (name?: string) =>
  makeApplication(ashlar, { ...(name && { name }), scopes: ['openid', 'profile', 'email', 'api'] });

describe('the identity token', () => {
  test('verifies with the published keys, and says who signed in, when, for whom and with which token', async () => {
    const [user, application] = [await makeUser(ashlar), await openid()];
    const issued = await exchange(application, user.id, ['openid', 'profile', 'email'], 'n-0S6_WzA2Mj');
    const claims = await verify(issued.id_token, application.uid);
    expect(claims).toMatchObject({
      sub: String(user.id),
      nonce: 'n-0S6_WzA2Mj',
      auth_time: signedIn.getTime() / 1_000,
      at_hash: digest(issued.access_token).subarray(0, 16).toString('base64url'),
      sub_legacy: expect.stringMatching(/^[0-9a-f]{64}$/),
      name: user.username,
      nickname: user.username,
      preferred_username: user.username,
      profile: `${ashlar.url}/${user.username}`,
      email: `${user.username}@example.com`,
      email_verified: true,
      groups_direct: [],
    });
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(120);
    expect(claims).not.toHaveProperty('groups');
    await expect(verify(issued.id_token, 'another client')).rejects.toThrow(/aud/);
  });

  test('says no more than the scopes allow, and nothing that was not asked', async () => {
    const [user, application] = [await makeUser(ashlar), await openid()];
    const issued = await exchange(application, user.id, ['openid']);
    const claims = await verify(issued.id_token, application.uid);
    const always = ['iss', 'aud', 'exp', 'iat', 'auth_time', 'at_hash', 'sub', 'sub_legacy', 'groups_direct'];
    expect(Object.keys(claims).sort()).toEqual(always.sort());
    expect(await exchange(application, user.id, ['api'])).not.toHaveProperty('id_token');
  });

  test('comes again with a refresh: the same sign-in, another access token, no nonce', async () => {
    const [user, application] = [await makeUser(ashlar), await openid()];
    const issued = await exchange(application, user.id, ['openid'], 'once');
    const client = { client_id: application.uid, client_secret: application.secret };
    const refreshing = { grant_type: 'refresh_token', refresh_token: issued.refresh_token, ...client };
    const renewed = bodyOf(await post('/oauth/token', refreshing), 200);
    const claims = await verify(renewed.id_token, application.uid);
    const at_hash = digest(renewed.access_token).subarray(0, 16).toString('base64url');
    expect(claims).toMatchObject({ sub: String(user.id), auth_time: signedIn.getTime() / 1_000, at_hash });
    expect(claims).not.toHaveProperty('nonce');
  });
});

describe('userinfo', () => {
  test('answers GET and POST, by header and by parameter, with the subject of the identity token', async () => {
    const [user, application] = [
      await makeUser(ashlar, { website_url: 'https://example.net/me' }),
      await openid(),
    ];
    const issued = await exchange(application, user.id, ['openid', 'profile', 'email']);
    const { sub, sub_legacy } = await verify(issued.id_token, application.uid);
    const responses = [
      await get('/oauth/userinfo', bearer(issued.access_token)),
      await post('/oauth/userinfo', { access_token: issued.access_token }),
      await ashlar.call('POST /oauth/userinfo', { raw: true, headers: bearer(issued.access_token) }),
    ];
    for (const response of responses) {
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(bodyOf(response, 200)).toMatchObject({
        ...{ sub, sub_legacy, nickname: user.username, groups: [], website: 'https://example.net/me' },
        picture: expect.stringMatching(/^https:\/\//),
        email_verified: true,
      });
    }
  });

  test('names groups: direct ones by role, all with what is inside them, none by a membership that is over', async () => {
    const [user, application] = [await makeUser(ashlar), await openid()];
    const owned = await makeGroup(ashlar);
    const inside = await makeGroup(ashlar, { parent_id: owned.id });
    const developed = await makeGroup(ashlar);
    const [past, foreign] = [await makeGroup(ashlar), await makeGroup(ashlar)];
    await addMember(ashlar, `groups/${owned.id}`, user, 50);
    await addMember(ashlar, `groups/${developed.id}`, user, 30);
    await addMember(ashlar, `groups/${past.id}`, user, 30);
    await db()
      .updateTable('members')
      .set({ expires_at: '2020-01-01' })
      .where('namespace_id', '=', past.id)
      .where('user_id', '=', user.id)
      .execute();
    const issued = await exchange(application, user.id, ['openid']);
    const { groups_direct } = await verify(issued.id_token, application.uid);
    expect(groups_direct).toEqual([owned.full_path, developed.full_path].sort());
    const told = bodyOf(await get('/oauth/userinfo', bearer(issued.access_token)), 200);
    expect(told.groups).toEqual([owned.full_path, inside.full_path, developed.full_path].sort());
    expect(told.groups).not.toContain(foreign.full_path);
    expect(told['https://gitlab.org/claims/groups/owner']).toEqual([owned.full_path]);
    expect(told['https://gitlab.org/claims/groups/developer']).toEqual([developed.full_path]);
    expect(told).not.toHaveProperty('https://gitlab.org/claims/groups/maintainer');
    expect(told).not.toHaveProperty('groups_direct');
  });

  test('refuses missing, unknown, expired, revoked and foreign tokens, and says how to authenticate', async () => {
    const [user, application] = [await makeUser(ashlar), await openid()];
    const refused = async (headers: Record<string, string>) => {
      const response = await get('/oauth/userinfo', headers);
      expect(bodyOf(response, 401)).toMatchObject({ error: 'invalid_token' });
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer .*error="invalid_token"/);
    };
    await refused({});
    await refused(bearer(newSecret()));
    // A personal token is valid at the API, and gives an application no identity.
    await refused(bearer(user.token));
    const revoked = (await exchange(application, user.id, ['openid'])).access_token;
    const client = { client_id: application.uid, client_secret: application.secret };
    bodyOf(await post('/oauth/revoke', { token: revoked, ...client }), 200);
    await refused(bearer(revoked));
    const expired = (await exchange(application, user.id, ['openid'])).access_token;
    const back = moveClock(7_201_000);
    await refused(bearer(expired)).finally(back);
    const blocked = (await exchange(application, user.id, ['openid'])).access_token;
    bodyOf(await ashlar.root(`POST /users/${user.id}/block`), 201);
    await refused(bearer(blocked));
  });

  test('refuses a token without the scope, and one that comes in two ways', async () => {
    const [user, application] = [await makeUser(ashlar), await openid()];
    const api = (await exchange(application, user.id, ['api'])).access_token;
    const response = await get('/oauth/userinfo', bearer(api));
    expect(bodyOf(response, 403)).toMatchObject({ error: 'insufficient_scope' });
    expect(response.headers.get('www-authenticate')).toContain('error="insufficient_scope"');
    const { access_token } = await exchange(application, user.id, ['openid']);
    const twice = await get('/oauth/userinfo', bearer(access_token), `access_token=${access_token}`);
    expect(bodyOf(twice, 400)).toMatchObject({ error: 'invalid_request' });
  });
});

describe('keys', () => {
  test('rotation without signing anyone out: old tokens verify for a day, new ones have the new key', async () => {
    const [user, application] = [await makeUser(ashlar), await openid()];
    const before = await exchange(application, user.id, ['openid']);
    const kid = await rotateSigningKey(db(), services().secretKey);
    expect(decodeProtectedHeader(before.id_token).kid).not.toBe(kid);
    // A process reads the current key every few seconds.
    let after = before;
    await expect
      .poll(
        async () => {
          after = await exchange(application, user.id, ['openid']);
          return decodeProtectedHeader(after.id_token).kid;
        },
        { timeout: 10_000, interval: 200 },
      )
      .toBe(kid);
    expect((await verify(before.id_token, application.uid)).sub).toBe(String(user.id));
    expect((await verify(after.id_token, application.uid)).sub).toBe(String(user.id));
    bodyOf(await get('/oauth/userinfo', bearer(before.access_token)), 200);

    const published = async () => (await keys()).keys.map((key) => key.kid);
    const kept = async () => {
      await dropRetiredKeys(db());
      const rows = await db().selectFrom('oauth_signing_keys').select('kid').orderBy('id', 'desc').execute();
      return rows.map((row) => row.kid);
    };
    const MINUTE = 60_000;
    const back = moveClock(24 * 60 * MINUTE - MINUTE);
    try {
      const old = decodeProtectedHeader(before.id_token).kid;
      expect(await published()).toEqual([kid, old]);
      expect(await kept()).toEqual([kid, old]);
    } finally {
      back();
    }
    const andBack = moveClock(24 * 60 * MINUTE + MINUTE);
    try {
      expect(await published()).toEqual([kid]);
      expect(await kept()).toEqual([kid]);
    } finally {
      andBack();
    }
  });

  test('two processes that need the first key at once make one', async () => {
    await db().deleteFrom('oauth_signing_keys').execute();
    const named = await services().database.sql<
      { database: string }[]
    >`select current_database() as database`;
    const target = { ...inject('postgres'), database: named[0]?.database ?? '' };
    const processes = [1, 2].map(() => openDatabase(target, { requests: 4, background: 1 }));
    try {
      const { secretKey } = services();
      const requested = [...processes, ...processes].map((database) => signingKey({ database, secretKey }));
      const kids = new Set((await Promise.all(requested)).map((key) => key.kid));
      expect(kids.size).toBe(1);
      expect((await keys()).keys.map((key) => key.kid)).toEqual([...kids]);
    } finally {
      await Promise.all(processes.map((database) => database.close()));
    }
  });

  test('what is published is public, and what is private is sealed', async () => {
    const { keys: published } = await keys();
    for (const key of published) {
      expect(Object.keys(key).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
      expect(key).toMatchObject({ kty: 'RSA', use: 'sig', alg: 'RS256' });
    }
    const rows = await db().selectFrom('oauth_signing_keys').select('private_key_sealed').execute();
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) expect(row.private_key_sealed).toMatch(/^v1\.[\w.-]+$/);
  });
});

describe('discovery', () => {
  test('both documents say the same, of this issuer, and the registration only while there is one', async () => {
    const document = bodyOf(await get('/.well-known/openid-configuration'), 200);
    expect(document).toMatchObject({
      issuer: ashlar.url,
      device_authorization_endpoint: `${ashlar.url}/oauth/authorize_device`,
      jwks_uri: `${ashlar.url}/oauth/discovery/keys`,
      code_challenge_methods_supported: ['S256'],
    });
    expect(bodyOf(await get('/.well-known/oauth-authorization-server'), 200)).toEqual(document);
    expect(document).not.toHaveProperty('registration_endpoint');
    const flag = '/features/oauth_dynamic_client_registration';
    bodyOf(await ashlar.root(`POST ${flag}`, { body: { value: true } }), 201);
    const registering = bodyOf(await get('/.well-known/openid-configuration'), 200);
    expect(registering.registration_endpoint).toBe(`${ashlar.url}/oauth/register`);
    bodyOf(await ashlar.root(`DELETE ${flag}`), 204);
  });

  test('every endpoint that it names is there', async () => {
    const document = bodyOf(await get('/.well-known/openid-configuration'), 200);
    const named = Object.entries<string>(document).filter(([name]) => /_endpoint$|^jwks_uri$/.test(name));
    for (const [name, url] of named) {
      const { status } = await ashlar.call(`OPTIONS ${new URL(url).pathname}`, { raw: true });
      expect(status, name).toBe(200);
    }
    expect(named.length).toBe(7);
  });

  test('leads from an address to the issuer', async () => {
    const resource = 'acct:somebody@example.com';
    const response = await get('/.well-known/webfinger', {}, `resource=${encodeURIComponent(resource)}`);
    const rel = 'http://openid.net/specs/connect/1.0/issuer';
    expect(bodyOf(response, 200)).toEqual({ subject: resource, links: [{ rel, href: ashlar.url }] });
    expect(bodyOf(await get('/.well-known/webfinger'), 400)).toMatchObject({ error: 'invalid_request' });
  });

  test('pages of other origins may read all of it, and ask with simple headers and Authorization only', async () => {
    const origin = 'https://spa.example.org';
    const preflight = (path: string, headers: string) =>
      ashlar.call(`OPTIONS ${path}`, {
        raw: true,
        headers: {
          origin,
          'access-control-request-method': 'GET',
          'access-control-request-headers': headers,
        },
      });
    const paths = [
      '/oauth/userinfo',
      '/oauth/discovery/keys',
      '/.well-known/openid-configuration',
      '/.well-known/oauth-authorization-server',
      '/.well-known/webfinger',
    ];
    for (const path of paths) {
      const response = await get(path, { origin });
      expect(response.headers.get('access-control-allow-origin'), path).toBe('*');
      const allowed = await preflight(path, 'authorization');
      expect(allowed.headers.get('access-control-allow-origin'), path).toBe('*');
      expect(allowed.headers.get('access-control-allow-headers')?.toLowerCase()).toContain('authorization');
      const refused = await preflight(path, 'authorization, x-requested-with');
      expect(refused.headers.get('access-control-allow-origin'), path).toBeNull();
    }
  });
});
