/** Applications for tests, written as rows, and a browser's way through the consent page to a code. */
import { randomUUID } from 'node:crypto';
import { SESSION_COOKIE } from '../../src/kernel/identity/credentials.ts';
import { openSession } from '../../src/kernel/identity/session-actions.ts';
import { digest, randomHex } from '../../src/platform/secret.ts';
import type { TestApp } from './app.ts';
import { type Browser, openBrowser, type PageResponse } from './browser.ts';
import { makeUser, type UserColumns } from './rows.ts';

export type MadeApplication = {
  id: number;
  uid: string;
  name: string;
  /** Not sent when the application is public or registered dynamically. */
  secret: string;
  redirectUri: string;
};

/** A confidential application with the scopes api and read_user, of the instance unless it is given a user. */
export async function makeApplication(
  ashlar: TestApp,
  given: {
    name?: string;
    scopes?: readonly string[];
    redirectUris?: readonly string[];
    confidential?: boolean;
    trusted?: boolean;
    dynamic?: boolean;
    userId?: number;
  } = {},
): Promise<MadeApplication> {
  const uid = randomHex(32);
  const secret = `gloas-${randomHex(32)}`;
  const { name = `Application ${uid.slice(0, 6)}`, dynamic = false, trusted = false } = given;
  const { scopes = ['api', 'read_user'], redirectUris = ['https://client.example.org/callback'] } = given;
  const confidential = given.confidential ?? !dynamic;
  const time = new Date();
  const { id } = await ashlar.app.services.database.db
    .insertInto('oauth_applications')
    .values({
      ...{ uid, name, confidential, trusted, dynamic },
      secret_digest: dynamic ? null : digest(secret),
      redirect_uris: [...redirectUris],
      scopes: [...scopes],
      user_id: given.userId ?? null,
      created_at: time,
      updated_at: time,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return { id, uid, name, secret, redirectUri: redirectUris[0] ?? '' };
}

/** A pair of PKCE, good for one authorization: the verifier for the token endpoint, the rest for the request. */
export function makeChallenge(): {
  verifier: string;
  parameters: { code_challenge: string; code_challenge_method: string };
} {
  const verifier = `${randomUUID()}-${randomUUID()}`;
  const code_challenge = digest(verifier).toString('base64url');
  return { verifier, parameters: { code_challenge, code_challenge_method: 'S256' } };
}

/**
 * The address of an authorization; `parameters` stand beside, or in place of, those that every request has.
 */
export const authorizePath = (
  application: Pick<MadeApplication, 'uid' | 'redirectUri'>,
  parameters: Record<string, string> = {},
): string =>
  `/oauth/authorize?${new URLSearchParams({
    client_id: application.uid,
    redirect_uri: application.redirectUri,
    response_type: 'code',
    ...parameters,
  })}`;

/** Opens the authorization of a browser that is signed in, and decides on the consent page, where there is one. */
export async function decide(
  browser: Browser,
  application: Pick<MadeApplication, 'uid' | 'redirectUri'>,
  decision: 'approve' | 'deny',
  parameters: Record<string, string> = {},
): Promise<PageResponse> {
  const path = authorizePath(application, parameters);
  const requested = await browser.get(path);
  if (requested.status !== 200) return requested;
  return browser.submit(path, { decision }, '/oauth/authorize');
}

/** The code that a client gets when the user of the browser approves; throws when there is none. */
export async function authorize(
  browser: Browser,
  application: Pick<MadeApplication, 'uid' | 'redirectUri'>,
  parameters: Record<string, string> = {},
): Promise<string> {
  const { status, location, text } = await decide(browser, application, 'approve', parameters);
  const code = location === null ? null : new URL(location, 'http://here').searchParams.get('code');
  if (code === null) throw new Error(`no code: ${status} ${location} ${text}`);
  return code;
}

/** The parameters of a redirect to the client. */
export const authorizationResponseAt = (location: string | null): Record<string, string> =>
  Object.fromEntries(new URL(location ?? 'none:').searchParams);

/** Users who approve and clients that redeem, at one Ashlar. */
export function authorizationsOf(ashlar: TestApp) {
  const db = () => ashlar.app.services.database.db;
  return {
    /** A new user, with a browser in which they are signed in. */
    async signedIn(columns: UserColumns = {}) {
      const user = await makeUser(ashlar, columns);
      const browser = openBrowser(ashlar);
      const origin = { address: '127.0.0.1', userAgent: null };
      browser.cookies.set(SESSION_COOKIE, await openSession(db(), user.id, origin));
      return { user, browser };
    },

    /** Sends the code to the token endpoint, with the secret unless the fields have a verifier. */
    redeem: (application: MadeApplication, code: string, fields: Record<string, string> = {}) => {
      const parameters = {
        ...{ grant_type: 'authorization_code', code, client_id: application.uid },
        redirect_uri: application.redirectUri,
        ...(!('code_verifier' in fields) && { client_secret: application.secret }),
        ...fields,
      };
      const form = new URLSearchParams(parameters).toString();
      return ashlar.call('POST /oauth/token', { raw: true, form });
    },

    grantsOf: (user: { id: number }) =>
      db().selectFrom('oauth_grants').selectAll().where('user_id', '=', user.id).execute(),

    /** The status of the API's response to an access token. */
    statusOf: async (token: string): Promise<number> =>
      (await ashlar.call('GET /user', { headers: { authorization: `Bearer ${token}` } })).status,
  };
}
