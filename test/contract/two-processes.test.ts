/** Two programs on one database: what one of them does, the other knows. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type App, createApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { migrationsFolder } from '../../src/instance.ts';
import { connect } from '../../src/platform/db/database.ts';
import { migrate } from '../../src/platform/db/migrations.ts';
import { migrateJobs } from '../../src/platform/jobs/jobs.ts';
import { createLog } from '../../src/platform/log.ts';
import { ROOT_TOKEN, SECRET_KEY, useApp } from '../support/app.ts';
import { makeUser as makeMember } from '../support/factories.ts';
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
      const user = await makeMember(one);
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

  test('a setting that one changes is the other’s within a second', async () => {
    const inOther = async (): Promise<string> => {
      const headers = { 'private-token': ROOT_TOKEN };
      const response = await fetch(`${other}/api/v4/application/settings`, { headers });
      return JSON.parse(await response.text()).after_sign_out_path;
    };
    const path = 'https://example.com/bye';
    await inOther();
    const changed = await one.root('PUT /application/settings', { body: { after_sign_out_path: path } });
    expect(changed.status).toBe(200);
    let seen = '';
    // The rule is one second; the bound leaves room for a busy machine.
    for (let attempt = 0; attempt < 100 && seen !== path; attempt++) {
      seen = await inOther();
      if (seen !== path) await sleep(50);
    }
    expect(seen).toBe(path);
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
