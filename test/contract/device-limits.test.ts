/** The limits of the device flow, in one process and in two: polls, and guesses of user codes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type App, createApp } from '../../src/app.ts';
import { readConfig } from '../../src/kernel/config.ts';
import { type Call, SECRET_KEY, useApp } from '../support/app.ts';
import type { Browser } from '../support/browser.ts';
import {
  atWindowStart,
  DEVICE_GRANT,
  devicesOf,
  formOf,
  later,
  sendCode,
  TOO_MANY_CODES,
  tokenOf,
  UNKNOWN_CODE,
} from '../support/devices.ts';
import { makeUser } from '../support/factories.ts';

const ashlar = useApp({ env: { ASHLAR_TRUSTED_PROXIES: '127.0.0.1' } });
const { publicClient, ask, rowOf, browserOf } = devicesOf(ashlar);

/** Calls another process as the browser of the tests does. */
const callOf =
  (url: string): Call =>
  async (request, { headers = {}, form: body, query } = {}) => {
    const [method = '', path = ''] = request.split(' ');
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const response = await fetch(`${url}${path}${query === undefined ? '' : `?${query}`}`, {
      method,
      headers: { ...headers, ...(body !== undefined && type) },
      redirect: 'manual',
      ...(body !== undefined && { body }),
    });
    return {
      status: response.status,
      headers: response.headers,
      body: undefined,
      text: await response.text(),
    };
  };

describe('brute force of user codes', () => {
  test('ends after twenty of one user, for right codes too, until the time is over', async () => {
    const user = await makeUser(ashlar);
    const application = await publicClient();
    await atWindowStart(async () => {
      const request = await ask(application);
      const browser = await browserOf(user);
      for (let tries = 0; tries < 20; tries++)
        expect((await sendCode(browser, 'BBBB-BBBB')).alert).toBe(UNKNOWN_CODE);
      const refused = await sendCode(browser, request.user_code);
      expect([refused.status, refused.alert]).toEqual([429, TOO_MANY_CODES]);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      // Neither another session nor the other form is a way around the limit.
      const elsewhere = await browserOf(user);
      const authenticity_token = await tokenOf(elsewhere);
      const decision = { user_code: request.user_code, decision: 'approve', authenticity_token };
      expect((await elsewhere.post('/oauth/device/decision', decision)).status).toBe(429);
      expect((await rowOf(request)).state).toBe('pending');
      // The limit does not delay others.
      expect((await sendCode(await browserOf(await makeUser(ashlar)), request.user_code)).status).toBe(200);
      await later(300, async () => {
        const anew = await ask(application);
        expect((await sendCode(browser, anew.user_code)).status).toBe(200);
      });
    });
  });

  test('ends after a hundred of one address, whoever they are', async () => {
    const address = { 'x-forwarded-for': '198.51.100.7' };
    const users = await Promise.all(Array.from({ length: 6 }, () => makeUser(ashlar)));
    await atWindowStart(async () => {
      const statuses: number[] = [];
      for (const user of users) {
        const browser = await browserOf(user);
        const authenticity_token = await tokenOf(browser);
        for (let tries = 0; tries < 17; tries++) {
          const fields = { user_code: 'BBBB-BBBB', authenticity_token };
          statuses.push((await browser.post('/oauth/device', fields, address)).status);
        }
      }
      expect(statuses).toEqual([...Array(100).fill(422), 429, 429]);
    });
  });
});

describe('in two processes', () => {
  let second: App;
  let other = '';
  let folder = '';

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-second-'));
    const [found] = await ashlar.app.services.database.sql<
      { name: string }[]
    >`select current_database() as name`;
    second = createApp({
      config: readConfig({ ASHLAR_DATA: folder, ASHLAR_PORT: '0', ASHLAR_TRUSTED_PROXIES: '127.0.0.1' }),
      target: { ...inject('postgres'), database: found?.name ?? '' },
      secretKey: SECRET_KEY,
      log: ashlar.app.services.log,
    });
    other = await second.start();
  });

  afterAll(async () => {
    await second.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('the interval holds over both: of polls at once, one is in time', async () => {
    const application = await publicClient();
    const { device_code } = await ask(application);
    const body = formOf({ grant_type: DEVICE_GRANT, client_id: application.uid, device_code });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const errors = await Promise.all(
      [ashlar.url, other, ashlar.url, other].map(async (url) => {
        const response = await fetch(`${url}/oauth/token`, { method: 'POST', headers, body });
        return JSON.parse(await response.text()).error;
      }),
    );
    expect(errors.sort()).toEqual(['authorization_pending', 'slow_down', 'slow_down', 'slow_down']);
  });

  test('brute force of user codes is counted over both', async () => {
    const user = await makeUser(ashlar);
    const there: Browser = await browserOf(user, callOf(other));
    const here = await browserOf(user);
    await atWindowStart(async () => {
      const statuses: number[] = [];
      for (let tries = 0; tries < 22; tries++)
        statuses.push((await sendCode(tries % 2 === 0 ? here : there, 'BBBB-BBBB')).status);
      expect(statuses).toEqual([...Array(20).fill(422), 429, 429]);
    });
  });
});
