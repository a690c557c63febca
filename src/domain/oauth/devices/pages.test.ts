/** The device pages: their texts, and that only the user decides. */
import { describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { openBrowser, withSettings } from '../../../../test/support/browser.ts';
import {
  atWindowStart,
  decideDevice,
  devicesOf,
  formOf,
  later,
  sendCode,
  tokenOf,
  UNKNOWN_CODE,
} from '../../../../test/support/devices.ts';
import { auditEventsOf, bodyOf, makeUser } from '../../../../test/support/factories.ts';
import { now } from '../../../platform/clock.ts';
import { digest } from '../../../platform/secret.ts';

const ashlar = useApp({ env: { ASHLAR_TRUSTED_PROXIES: '127.0.0.1' } });
const { publicClient, ask, poll, rowOf, browserOf } = devicesOf(ashlar);
const db = () => ashlar.app.services.database.db;

describe('the device page', () => {
  test('leads to sign-in and back with the code', async () => {
    const { status, location } = await openBrowser(ashlar).get('/oauth/device?user_code=WDJB-MJHT');
    const back = encodeURIComponent('/oauth/device?user_code=WDJB-MJHT');
    expect([status, location]).toEqual([303, `/users/sign_in?return_to=${back}`]);
  });

  test('asks for the code, prefilled where the address has it; opening it decides nothing', async () => {
    const application = await publicClient();
    const request = await ask(application);
    const browser = await browserOf(await makeUser(ashlar));
    expect((await browser.get('/oauth/device')).text).toContain('name="user_code" type="text" value=""');
    const path = request.verification_uri_complete.replace(ashlar.url, '');
    const page = await browser.get(path);
    expect([page.status, page.text]).toEqual([
      200,
      expect.stringContaining(`name="user_code" type="text" value="${request.user_code}"`),
    ]);
    expect(page.text).not.toContain(application.name);
    expect((await rowOf(request)).state).toBe('pending');
    expect((await browser.get('/oauth/device?user_code=%22%3E%3Cscript%3E')).text).not.toContain('<script>');
  });

  test('remote phishing: says who asks, for what and for whom, and warns, before anything is given', async () => {
    const user = await makeUser(ashlar);
    const application = await publicClient({
      name: 'Lamp <b>"1"</b>',
      scopes: ['read_user', 'openid', 'api'],
    });
    const request = await ask(application, 'read_user openid');
    const page = await sendCode(await browserOf(user), request.user_code.toLowerCase().replace('-', ' '));
    expect(page.status).toBe(200);
    for (const text of [
      'Lamp &lt;b&gt;&quot;1&quot;&lt;/b&gt;',
      'Read your profile, with your mail addresses.',
      'Know who you are.',
      request.user_code,
      `@${user.username}`,
      'Approve only if',
      'value="approve"',
      'value="deny"',
    ])
      expect(page.text).toContain(text);
    expect(page.text).not.toContain('Do everything that you can do');
    expect((await rowOf(request)).state).toBe('pending');
  });

  test('a trusted application is asked about all the same', async () => {
    const request = await ask(await publicClient({ trusted: true }));
    expect((await sendCode(await browserOf(await makeUser(ashlar)), request.user_code)).text).toContain(
      'value="approve"',
    );
    expect((await rowOf(request)).state).toBe('pending');
  });

  test('clickjacking and referrers: the pages stand in no frame, tell nobody where they are, and are not kept', async () => {
    const request = await ask(await publicClient());
    const browser = await browserOf(await makeUser(ashlar));
    const pages = [
      await browser.get('/oauth/device'),
      await sendCode(browser, 'nothing'),
      await sendCode(browser, request.user_code),
      await decideDevice(browser, request.user_code, 'approve'),
    ];
    for (const { headers } of pages) {
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(headers.get('content-security-policy')).toContain("form-action 'self'");
      expect(headers.get('referrer-policy')).toBe('same-origin');
      expect(headers.get('cache-control')).toBe('no-store');
    }
  });

  test.each(['/oauth/device', '/oauth/device/decision'])(
    'CSRF: %s needs the session’s token and its own site',
    async (path) => {
      const request = await ask(await publicClient());
      const browser = await browserOf(await makeUser(ashlar));
      const fields = { user_code: request.user_code, decision: 'approve' };
      expect((await browser.post(path, fields)).status).toBe(403);
      expect((await browser.post(path, { ...fields, authenticity_token: 'wrong' })).status).toBe(403);
      const authenticity_token = await tokenOf(browser);
      const elsewhere = { 'sec-fetch-site': 'cross-site' };
      expect((await browser.post(path, { ...fields, authenticity_token }, elsewhere)).status).toBe(403);
      expect((await rowOf(request)).state).toBe('pending');
      expect((await browser.post(path, { ...fields, authenticity_token })).status).toBe(200);
    },
  );

  test('says the same of codes that are unknown, malformed, expired or decided about', async () => {
    const application = await publicClient();
    const browser = await browserOf(await makeUser(ashlar));
    const [expired, approved, denied] = [
      await ask(application),
      await ask(application),
      await ask(application),
    ];
    await decideDevice(browser, approved.user_code, 'approve');
    await decideDevice(browser, denied.user_code, 'deny');
    await db()
      .updateTable('oauth_devices')
      .set({ expires_at: now() })
      .where('digest', '=', digest(expired.device_code))
      .execute();
    for (const { user_code } of [expired, approved, denied, { user_code: 'BCDF-GHJK' }, { user_code: 'ä' }]) {
      const page = await sendCode(browser, user_code);
      expect([user_code, page.status, page.alert]).toEqual([user_code, 422, UNKNOWN_CODE]);
    }
  });

  test('of a code that expires, or is decided about, while the page is open, nothing is given', async () => {
    const application = await publicClient();
    const [expiring, taken] = [await ask(application), await ask(application)];
    const browser = await browserOf(await makeUser(ashlar));
    const token = await tokenOf(browser);
    const approve = (user_code: string) =>
      browser.post('/oauth/device/decision', { user_code, decision: 'approve', authenticity_token: token });
    const late = await later(301, () => approve(expiring.user_code));
    expect([late.status, late.alert]).toEqual([422, UNKNOWN_CODE]);
    expect((await rowOf(expiring)).state).toBe('pending');
    await decideDevice(await browserOf(await makeUser(ashlar)), taken.user_code, 'deny');
    expect((await approve(taken.user_code)).status).toBe(422);
    expect((await rowOf(taken)).state).toBe('denied');
  });

  test('anything but an approval is a denial', async () => {
    const request = await ask(await publicClient());
    const browser = await browserOf(await makeUser(ashlar));
    const token = await tokenOf(browser);
    const { user_code } = request;
    await browser.post('/oauth/device/decision', { user_code, authenticity_token: token });
    expect((await rowOf(request)).state).toBe('denied');
  });

  test.each(['sudo', 'admin_mode', 'read_service_ping'])('only administrators give %s', async (scope) => {
    const application = await publicClient({ scopes: ['api', scope] });
    const request = await ask(application, `api ${scope}`);
    const page = await sendCode(await browserOf(await makeUser(ashlar)), request.user_code);
    expect([page.status, page.alert]).toEqual([403, expect.stringContaining(scope)]);
    expect(page.text).not.toContain('value="approve"');
    expect((await poll(application, request)).body.error).toBe('access_denied');

    const again = await ask(application, `api ${scope}`);
    const administrator = await makeUser(ashlar, { admin: true });
    await decideDevice(await browserOf(administrator), again.user_code, 'approve');
    expect(bodyOf(await poll(application, again), 200).scope).toBe(`api ${scope}`);
  });

  test('administrators give api to trusted applications alone, where the site says so', () =>
    withSettings(ashlar, { disable_admin_oauth_scopes: true }, async () => {
      const administrator = await browserOf(await makeUser(ashlar, { admin: true }));
      const [stranger, trusted] = [await publicClient(), await publicClient({ trusted: true })];
      expect((await sendCode(administrator, (await ask(stranger)).user_code)).status).toBe(403);
      expect((await sendCode(administrator, (await ask(trusted)).user_code)).status).toBe(200);
      const user = await browserOf(await makeUser(ashlar));
      expect((await sendCode(user, (await ask(stranger)).user_code)).status).toBe(200);
    }));
});

test('an approval is in the audit log of the user, a denial is not', async () => {
  const user = await makeUser(ashlar);
  const [application, browser] = [await publicClient(), await browserOf(user)];
  await decideDevice(browser, (await ask(application)).user_code, 'deny');
  expect(await auditEventsOf(ashlar, user.id)).not.toContain('user_authorized_oauth_application');
  await decideDevice(browser, (await ask(application)).user_code, 'approve');
  expect(await auditEventsOf(ashlar, user.id)).toContain('user_authorized_oauth_application');
});

test('who has not confirmed their address connects no device', async () => {
  const [user, application] = [await makeUser(ashlar), await publicClient()];
  await db().updateTable('users').set({ confirmed_at: null }).where('id', '=', user.id).execute();
  const request = await ask(application);
  const page = await sendCode(await browserOf(user), request.user_code);
  expect([page.status, page.alert]).toEqual([403, expect.stringContaining('confirm your email')]);
  expect((await poll(application, request)).body.error).toBe('access_denied');
});

test('resource exhaustion: one address begins no more than 300 authorizations in five minutes', () =>
  atWindowStart(async () => {
    const application = await publicClient();
    const form = formOf({ client_id: application.uid });
    const from = (address: string) =>
      ashlar.call('POST /oauth/authorize_device', {
        raw: true,
        form,
        headers: { 'x-forwarded-for': address },
      });
    for (let times = 0; times < 300; times++) expect((await from('198.51.100.7')).status).toBe(200);
    const refused = await from('198.51.100.7');
    expect([refused.status, refused.body.error]).toEqual([429, 'temporarily_unavailable']);
    expect((await from('198.51.100.8')).status).toBe(200);
  }));
