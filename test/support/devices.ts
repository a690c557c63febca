/** Devices for tests: requests for codes and polls, browsers that decide, and a clock that moves on for a while. */
import { ok } from 'node:assert/strict';
import { SESSION_COOKIE } from '../../src/kernel/identity/credentials.ts';
import { openSession } from '../../src/kernel/identity/session-actions.ts';
import { moveClock, now } from '../../src/platform/clock.ts';
import { digest } from '../../src/platform/secret.ts';
import type { Call, Called, TestApp } from './app.ts';
import { type Browser, hiddenFields, openBrowser, type PageResponse } from './browser.ts';
import { bodyOf } from './factories.ts';
import { type MadeApplication, makeApplication } from './oauth.ts';

/** The page's text for codes that cannot be decided about, and for users who try too many. */
export const UNKNOWN_CODE =
  'This code is not valid. It may be mistyped, used already or older than five minutes.';
export const TOO_MANY_CODES =
  'Too many codes were tried. Wait five minutes, and then start again on your device.';

export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

type Fields = Record<string, string>;
export const formOf = (fields: Fields): string => new URLSearchParams(fields).toString();

export type DeviceAuthorization = {
  device_code: string;
  user_code: string;
  verification_uri_complete: string;
};

/** Status, code and text of a refusal. */
export const errorOf = ({ status, body }: Called): unknown[] => [status, body.error, body.error_description];

/** Runs with the clock moved on, and moves it back. */
export async function later<T>(seconds: number, work: () => Promise<T>): Promise<T> {
  const back = moveClock(seconds * 1_000);
  try {
    return await work();
  } finally {
    back();
  }
}

/** Runs at the start of one of the limiter's windows of five minutes, so that none ends meanwhile. */
export const atWindowStart = <T>(work: () => Promise<T>): Promise<T> =>
  later(300 - ((now().getTime() / 1_000) % 300) + 1, work);

/** Types the code into the form. */
export const sendCode = (browser: Browser, user_code: string): Promise<PageResponse> =>
  browser.submit('/oauth/device', { user_code });

/** Types the code and decides on the page that follows; throws when none does. */
export async function decideDevice(
  browser: Browser,
  user_code: string,
  decision: 'approve' | 'deny',
): Promise<PageResponse> {
  const page = await sendCode(browser, user_code);
  const fields = hiddenFields(page.text, '/oauth/device/decision');
  ok(fields.user_code === user_code, `no decision: ${page.status} ${page.text}`);
  return browser.post('/oauth/device/decision', { ...fields, decision });
}

/** The token that the forms of the browser's session carry. */
export const tokenOf = async (browser: Browser): Promise<string> =>
  hiddenFields((await browser.get('/oauth/device')).text, '/oauth/device').authenticity_token ?? '';

let addresses = 0;

/** Requests of devices and of the users who decide, to an Ashlar that trusts its proxy about addresses. */
export function devicesOf(ashlar: TestApp) {
  const db = () => ashlar.app.services.database.db;
  const post = (path: string, fields: Fields, headers: Fields = {}) =>
    ashlar.call(`POST ${path}`, { raw: true, form: formOf(fields), headers });
  return {
    post,

    publicClient: (given: Parameters<typeof makeApplication>[1] = {}) =>
      makeApplication(ashlar, { confidential: false, ...given }),

    async ask(application: MadeApplication, scope?: string): Promise<DeviceAuthorization> {
      const fields = { client_id: application.uid, ...(scope !== undefined && { scope }) };
      return bodyOf(await post('/oauth/authorize_device', fields), 200);
    },

    poll: (
      application: MadeApplication,
      { device_code }: Pick<DeviceAuthorization, 'device_code'>,
      more: Fields = {},
    ) => post('/oauth/token', { grant_type: DEVICE_GRANT, client_id: application.uid, device_code, ...more }),

    rowOf: ({ device_code }: DeviceAuthorization) =>
      db()
        .selectFrom('oauth_devices')
        .selectAll()
        .where('digest', '=', digest(device_code))
        .executeTakeFirstOrThrow(),

    /** A browser with a session of the user and an address of its own. */
    async browserOf(user: { id: number }, call: Call = ashlar.call): Promise<Browser> {
      const address = { 'x-forwarded-for': `192.0.2.${++addresses}` };
      const throughProxy: Call = (request, options) =>
        call(request, { ...options, headers: { ...address, ...options?.headers } });
      const browser = openBrowser({ ...ashlar, call: throughProxy });
      const origin = { address: '127.0.0.1', userAgent: null };
      browser.cookies.set(SESSION_COOKIE, await openSession(db(), user.id, origin));
      return browser;
    },
  };
}
