/** Alerts that come at once into two programs on one database: grouped as in one, and none lost. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type App, createApp } from '../../src/app.ts';
import { readConfig } from '../../src/kernel/config.ts';
import { createLog } from '../../src/platform/log.ts';
import { makeIntegration, metricsItem, metricsPayload, postAlert } from '../support/alerts.ts';
import { SECRET_KEY, useApp } from '../support/app.ts';
import { makeProject } from '../support/factories.ts';

const env = { ASHLAR_TIER: 'premium' };
const one = useApp({ env });
let second: App;
let urls: string[] = [];
let folder = '';
const sql = () => one.app.services.database.sql;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ashlar-second-'));
  const [found] = await sql()<{ name: string }[]>`select current_database() as name`;
  second = createApp({
    config: readConfig({ ...env, ASHLAR_DATA: folder, ASHLAR_PORT: '0' }),
    target: { ...inject('postgres'), database: found?.name ?? '' },
    secretKey: SECRET_KEY,
    log: createLog(() => {}),
  });
  urls = [one.url, await second.start()];
});

afterAll(async () => {
  await second.stop();
  rmSync(folder, { recursive: true, force: true });
});

type Receiver = { id: number; path: string; key: string };

async function makeReceiver(kind: 'http' | 'metrics' = 'http'): Promise<Receiver> {
  const { id, path_with_namespace } = await makeProject(one);
  const { key } = await makeIntegration(sql(), id, { kind });
  const word = kind === 'metrics' ? 'metrics/' : '';
  return { id, path: `${path_with_namespace}/${word}alerts/notify.json`, key };
}

/** Sends all at once, by turns to either program; their responses, in the same order. */
const sendAll = (sent: readonly { route: Receiver; payload: unknown }[]) =>
  Promise.all(
    sent.map(({ route, payload }, n) =>
      postAlert(urls[n % 2] ?? '', route.path, payload, { key: route.key }),
    ),
  );

const alertsOf = (id: number) => sql()<{ iid: number; title: string; status: string; events: number }[]>`
  select iid, title, status, events from alerts where project_id = ${id} order by iid`;

test('100 identical payloads are one alert that was seen 100 times', async () => {
  for (let round = 0; round < 3; round++) {
    const route = await makeReceiver();
    const payload = { title: 'Down', fingerprint: 'down' };
    const responses = await sendAll(Array.from({ length: 100 }, () => ({ route, payload })));
    expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 100 }, () => 200));
    const [alert, ...others] = await alertsOf(route.id);
    expect([alert, others]).toEqual([
      { iid: alert?.iid, title: 'Down', status: 'triggered', events: 100 },
      [],
    ]);
    for (const { body } of responses) expect(body).toEqual([{ iid: alert?.iid, title: 'Down' }]);
  }
});

test('in many projects at once, each keeps its own, and every answer names what was asked for', async () => {
  const routes = await Promise.all(Array.from({ length: 8 }, () => makeReceiver()));
  const sent = Array.from({ length: 400 }, (_, n) => ({
    route: routes[(n * 7) % routes.length] as Receiver,
    payload: {
      title: `T${n % 5}`,
      // Without a fingerprint, the description makes each another.
      ...(n % 3 === 0 ? { description: `${n}` } : { fingerprint: `T${n % 5}` }),
    },
  }));
  const responses = await sendAll(sent);
  for (const [n, { status, body }] of responses.entries())
    expect([status, body]).toEqual([200, [{ iid: expect.any(Number), title: sent[n]?.payload.title }]]);
  for (const route of routes) {
    const mine = sent.filter((each) => each.route === route);
    const alerts = await alertsOf(route.id);
    expect(alerts.reduce((sum, { events }) => sum + events, 0)).toBe(mine.length);
    expect(alerts).toHaveLength(new Set(mine.map(({ payload }) => JSON.stringify(payload))).size);
  }
});

test('payloads of many alerts that overlap lock one another out of nothing', async () => {
  const route = await makeReceiver('metrics');
  const names = Array.from({ length: 40 }, (_, n) => `Alert ${n}`);
  const sent = Array.from({ length: 40 }, (_, n) => {
    const turned = [...names.slice(n), ...names.slice(0, n)];
    const order = n % 4 < 2 ? turned : turned.toReversed();
    return { route, payload: metricsPayload(...order.map((name) => metricsItem(name))) };
  });
  const responses = await sendAll(sent);
  expect(responses.map(({ status }) => status)).toEqual(sent.map(() => 200));
  const alerts = await alertsOf(route.id);
  expect(alerts.map(({ title }) => title).toSorted()).toEqual(names.toSorted());
  expect(new Set(alerts.map(({ events }) => events))).toEqual(new Set([40]));
});

test('alerts and recoveries at once leave one open alert at most, and count every payload once', async () => {
  const route = await makeReceiver();
  const sent = Array.from({ length: 120 }, (_, n) => ({
    route,
    payload: {
      title: 'Flaps',
      fingerprint: 'flaps',
      ...(n % 3 === 2 && { end_time: '2026-01-01T00:00:00Z' }),
    },
  }));
  const responses = await sendAll(sent);
  for (const [n, { status }] of responses.entries())
    expect(n % 3 === 2 ? [200, 400] : [200], `answer ${n}`).toContain(status);
  const alerts = await alertsOf(route.id);
  expect(alerts.filter(({ status }) => status !== 'resolved').length).toBeLessThan(2);
  expect(alerts.reduce((sum, { events }) => sum + events, 0)).toBe(80);
});
