/** Two programs on one database: each sees the changes of the other. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type App, createApp } from '../../src/app.ts';
import { migrationsFolder } from '../../src/instance.ts';
import { readConfig } from '../../src/kernel/config.ts';
import { connect } from '../../src/platform/db/database.ts';
import { migrate } from '../../src/platform/db/migrations.ts';
import { migrateJobs } from '../../src/platform/jobs/jobs.ts';
import { createLog } from '../../src/platform/log.ts';
import { ROOT_TOKEN, SECRET_KEY, siteAt, useApp } from '../support/app.ts';
import { makeApplication } from '../support/oauth.ts';
import { makeUser } from '../support/rows.ts';

const one = useApp();
let second: App;
let other = '';
let folder = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ashlar-second-'));
  const [found] = await one.app.services.database.sql<{ name: string }[]>`select current_database() as name`;
  second = createApp({
    config: readConfig({ ASHLAR_DATA: folder, ASHLAR_PORT: '0' }),
    target: { ...inject('postgres'), database: found?.name ?? '' },
    secretKey: SECRET_KEY,
    log: createLog(() => {}),
  });
  other = await second.start();
});

afterAll(async () => {
  await second.stop();
  rmSync(folder, { recursive: true, force: true });
});

const status = async (url: string, path: string, token: string): Promise<number> => {
  const response = await fetch(`${url}/api/v4${path}`, { headers: { 'private-token': token } });
  await response.arrayBuffer();
  return response.status;
};

describe('two processes on one database', () => {
  test('a token that one revokes is dead in both at once', async () => {
    const { token } = await makeUser(one);
    expect([await status(one.url, '/user', token), await status(other, '/user', token)]).toEqual([200, 200]);
    const headers = { 'private-token': token };
    const revoked = await fetch(`${other}/api/v4/personal_access_tokens/self`, { method: 'DELETE', headers });
    expect(revoked.status).toBe(204);
    expect([await status(one.url, '/user', token), await status(other, '/user', token)]).toEqual([401, 401]);
  });

  test('a user whom one blocks is refused by both at once', async () => {
    const { id, token } = await makeUser(one);
    expect(await status(other, '/user', token)).toBe(200);
    expect((await one.root(`POST /users/${id}/block`)).status).toBe(201);
    expect([await status(one.url, '/user', token), await status(other, '/user', token)]).toEqual([403, 403]);
  });

  test('a message to everybody that one takes is shown by the other at once', async () => {
    const shown = async () => (await (await fetch(`${other}/users/sign_in`)).text()).includes('Down at noon');
    expect(await shown()).toBe(false);
    const made = await one.root('POST /broadcast_messages', { body: { message: 'Down at noon' } });
    expect([made.status, await shown()]).toEqual([201, true]);
    const gone = await one.root(`DELETE /broadcast_messages/${made.body.id}`);
    expect([gone.status, await shown()]).toEqual([204, false]);
  });

  test('what ends a grant in one ends it in both at once', async () => {
    const ends = [
      (user: { id: number }) => one.root(`POST /users/${user.id}/block`),
      (user: { id: number }) =>
        one.root(`PUT /users/${user.id}`, { body: { password: 'another good password' } }),
      (_: { id: number }, application: { id: number }) => one.root(`DELETE /applications/${application.id}`),
    ];
    const post = (url: string, fields: Record<string, string>) =>
      fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(fields) });
    const api = async (url: string, token: string): Promise<number> =>
      (await fetch(`${url}/api/v4/user`, { headers: { authorization: `Bearer ${token}` } })).status;
    for (const end of ends) {
      const user = await makeUser(one);
      const application = await makeApplication(one);
      const client = { client_id: application.uid, client_secret: application.secret };
      const password = 'correct horse battery staple';
      const given = { grant_type: 'password', username: user.username, password, ...client };
      const tokens = (await (await post(other, given)).json()) as Record<
        'access_token' | 'refresh_token',
        string
      >;
      expect([await api(one.url, tokens.access_token), await api(other, tokens.access_token)]).toEqual([
        200, 200,
      ]);
      expect((await end(user, application)).status).toBeLessThan(300);
      expect([401, 403]).toContain(await api(other, tokens.access_token));
      const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token, ...client };
      expect((await post(other, refresh)).status).toBeGreaterThanOrEqual(400);
    }
  });

  /** The two, each with its address and its root's calls. */
  const both = () => [
    { root: one.root, url: one.url, elsewhere: other },
    { root: siteAt(other, ROOT_TOKEN).root, url: other, elsewhere: one.url },
  ];

  test('what a setting refuses is refused by both as soon as the change is acknowledged', async () => {
    const { id } = await makeUser(one);
    const body = { name: 'i', scopes: ['api'] };
    const made = await one.root(`POST /users/${id}/impersonation_tokens`, { body });
    const { token } = made.body;
    for (const { root, url, elsewhere } of [...both(), ...both()]) {
      const used = async () => [await status(url, '/user', token), await status(elsewhere, '/user', token)];
      expect(await used()).toEqual([200, 200]);
      const off = await root('PUT /application/settings', { body: { impersonation_enabled: false } });
      expect([off.status, await used()]).toEqual([200, [401, 401]]);
      const on = await root('PUT /application/settings', { body: { impersonation_enabled: true } });
      expect([on.status, await used()]).toEqual([200, [200, 200]]);
    }
  });

  test('a change that another repeats is acknowledged to neither before both obey', async () => {
    const { id } = await makeUser(one);
    const body = { name: 'i', scopes: ['api'] };
    const { token } = (await one.root(`POST /users/${id}/impersonation_tokens`, { body })).body;
    expect([await status(one.url, '/user', token), await status(other, '/user', token)]).toEqual([200, 200]);
    await Promise.all(
      both().map(async ({ root, url, elsewhere }) => {
        await root('PUT /application/settings', { body: { impersonation_enabled: false } });
        expect([await status(url, '/user', token), await status(elsewhere, '/user', token)]).toEqual([
          401, 401,
        ]);
      }),
    );
    await one.root('PUT /application/settings', { body: { impersonation_enabled: true } });
  });

  test('so is what a feature flag hides', async () => {
    const flag = 'oauth_dynamic_client_registration';
    const offers = async (url: string): Promise<boolean> => {
      const response = await fetch(`${url}/.well-known/oauth-authorization-server`);
      return 'registration_endpoint' in ((await response.json()) as object);
    };
    for (const { root, url, elsewhere } of both()) {
      expect((await root(`POST /features/${flag}`, { body: { value: 'true' } })).status).toBe(201);
      expect([await offers(url), await offers(elsewhere)]).toEqual([true, true]);
      expect((await root(`POST /features/${flag}`, { body: { value: 'false' } })).status).toBe(201);
      expect([await offers(url), await offers(elsewhere)]).toEqual([false, false]);
      await root(`POST /features/${flag}`, { body: { value: 'true' } });
      expect(await offers(elsewhere)).toBe(true);
      expect((await root(`DELETE /features/${flag}`)).status).toBe(204);
      expect([await offers(url), await offers(elsewhere)]).toEqual([false, false]);
    }
  });
});

test('ten that start at once migrate an empty database once', async () => {
  const server = inject('postgres');
  const database = `test_${randomUUID().replaceAll('-', '')}`;
  const admin = connect({ ...server, database: 'postgres' }, { max: 1, statementTimeout: 0, name: 'tests' });
  await admin.unsafe(`create database ${database}`);
  await admin.end();
  const target = { ...server, database };
  const pools = Array.from({ length: 10 }, () =>
    connect(target, { max: 1, statementTimeout: 0, name: 'tests' }),
  );
  try {
    const done = await Promise.all(
      pools.map((sql) => migrate(sql, migrationsFolder, () => migrateJobs(target))),
    );
    const working = done.filter((names) => names.length > 0);
    expect(working).toHaveLength(1);
    const applied = await pools[0]?.unsafe<{ name: string }[]>('select name from migrations order by name');
    expect(applied?.map(({ name }) => name)).toEqual(working[0]);
  } finally {
    await Promise.all(pools.map((sql) => sql.end()));
  }
});
