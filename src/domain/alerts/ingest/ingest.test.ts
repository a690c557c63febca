/**
 * Alerts from their sender's view: inserted, counted up, ended and inserted anew; and their announcements.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import {
  type Integration,
  makeIntegration,
  metricsItem,
  metricsPayload,
  postAlert,
} from '../../../../test/support/alerts.ts';
import { type Called, type TestApp, useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeProject } from '../../../../test/support/factories.ts';

const premium = useApp({ env: { ASHLAR_TIER: 'premium' } });
const free = useApp({ env: { ASHLAR_TIER: 'free' } });

type Sent = {
  id: number;
  integration: Integration;
  send(payload: unknown): Promise<Called>;
  metrics(...items: Record<string, unknown>[]): Promise<Called>;
};

async function makeSender(app: TestApp): Promise<Sent> {
  const { id, path_with_namespace: path } = await makeProject(app);
  const { sql } = app.app.services.database;
  const integration = await makeIntegration(sql, id);
  const { key } = await makeIntegration(sql, id, { kind: 'metrics' });
  return {
    id,
    integration,
    send: (payload) => postAlert(app.url, `${path}/alerts/notify.json`, payload, integration),
    metrics: (...items) =>
      postAlert(app.url, `${path}/metrics/alerts/notify.json`, metricsPayload(...items), { key }),
  };
}

const alertsOf = (app: TestApp, projectId: number) =>
  app.app.services.database.sql<
    { iid: number; title: string; status: string; events: number; ended_at: Date | null }[]
  >`select iid, title, status, events, ended_at from alerts where project_id = ${projectId} order by iid`;

const ended = (title: string, fingerprint: string, end = '2026-02-03T04:05:06Z') => ({
  title,
  fingerprint,
  end_time: end,
});

describe('from premium up', () => {
  test('what is open is counted up, what is over is made anew', async () => {
    const { id, send } = await makeSender(premium);
    const payload = { title: 'Disk full', fingerprint: 'disk' };
    expect(bodyOf(await send(payload), 200)).toEqual([{ iid: 1, title: 'Disk full' }]);
    expect(bodyOf(await send({ ...payload, hosts: ['b'], title: 'Disk fuller' }), 200)).toEqual([
      { iid: 1, title: 'Disk full' },
    ]);
    expect(bodyOf(await send({ title: 'Other', fingerprint: 'other' }), 200)).toEqual([
      { iid: 2, title: 'Other' },
    ]);
    expect(bodyOf(await send(ended('Disk full', 'disk')), 200)).toEqual([{ iid: 1, title: 'Disk full' }]);
    // No alert is open.
    const again = await send(ended('Disk full', 'disk'));
    expect([again.status, again.body.message]).toEqual([400, expect.stringContaining('no open alert')]);
    expect(bodyOf(await send(payload), 200)).toEqual([{ iid: 3, title: 'Disk full' }]);
    expect(await alertsOf(premium, id)).toMatchObject([
      { iid: 1, status: 'resolved', events: 2, ended_at: new Date('2026-02-03T04:05:06Z') },
      { iid: 2, status: 'triggered', events: 1, ended_at: null },
      { iid: 3, status: 'triggered', events: 1, ended_at: null },
    ]);
  });

  test('acknowledged and ignored ones are open: they are counted up as they are, and end', async () => {
    const { id, send } = await makeSender(premium);
    const { sql } = premium.app.services.database;
    for (const status of ['acknowledged', 'ignored']) {
      bodyOf(await send({ title: status, fingerprint: status }), 200);
      await sql`update alerts set status = ${status} where project_id = ${id} and title = ${status}`;
      bodyOf(await send({ title: status, fingerprint: status }), 200);
    }
    expect(await alertsOf(premium, id)).toMatchObject([
      { status: 'acknowledged', events: 2 },
      { status: 'ignored', events: 2 },
    ]);
    bodyOf(await send(ended('ignored', 'ignored')), 200);
    expect(await alertsOf(premium, id)).toMatchObject([{ status: 'acknowledged' }, { status: 'resolved' }]);
  });

  test('equal payloads are one alert, whatever their start and hosts (spec: States and transitions)', async () => {
    const { id, send } = await makeSender(premium);
    const payload = { title: 'Alike', runbook: 'x' };
    const first = bodyOf(await send({ ...payload, hosts: 'a', start_time: '2026-01-01T00:00:00Z' }), 200);
    expect(bodyOf(await send({ runbook: 'x', hosts: ['b'], title: 'Alike' }), 200)).toEqual(first);
    bodyOf(await send({ ...payload, runbook: 'y' }), 200);
    bodyOf(await send({ ...payload, end_time: '2026-01-02T00:00:00Z' }), 200);
    // An alert that fires again after its end is a new one.
    bodyOf(await send(payload), 200);
    expect(await alertsOf(premium, id)).toMatchObject([
      { events: 2, status: 'resolved' },
      { events: 1, status: 'triggered' },
      { events: 1, status: 'triggered' },
    ]);
  });

  test('the feature flag turns that off, for all projects or for all but some', async () => {
    const [one, other] = [await makeSender(premium), await makeSender(premium)];
    const name = '/features/generic_alert_fingerprinting';
    const flag = (body: object) => premium.root(`POST ${name}`, { body });
    const twice = async () => {
      for (const { send } of [one, one, other, other]) bodyOf(await send({ title: 'Alike' }), 200);
      const events = async (id: number) => (await alertsOf(premium, id)).map((alert) => alert.events);
      return [await events(one.id), await events(other.id)];
    };
    try {
      bodyOf(await flag({ value: false }), 201);
      expect(await twice()).toEqual([
        [1, 1],
        [1, 1],
      ]);
      const { path_with_namespace: project } = bodyOf(await premium.root(`GET /projects/${one.id}`), 200);
      bodyOf(await flag({ value: true, project }), 201);
      expect(await twice()).toEqual([
        [1, 1, 2],
        [1, 1, 1, 1],
      ]);
    } finally {
      bodyOf(await premium.root(`DELETE ${name}`), 204);
    }
  });

  test('a metrics payload makes, counts up and ends one alert for each item', async () => {
    const { id, metrics } = await makeSender(premium);
    const over = { status: 'resolved', endsAt: '2026-01-01T01:00:00Z' };
    // A recovery of an unknown alert has no effect.
    expect(bodyOf(await metrics(metricsItem('A', over)), 200)).toEqual([]);
    expect(bodyOf(await metrics(), 200)).toEqual([]);
    expect(bodyOf(await metrics(metricsItem('A'), metricsItem('B'), metricsItem('A')), 200)).toEqual([
      { iid: 1, title: 'A' },
      { iid: 2, title: 'B' },
    ]);
    expect(bodyOf(await metrics(metricsItem('B', over), metricsItem('A'), metricsItem('C')), 200)).toEqual([
      { iid: 2, title: 'B' },
      { iid: 1, title: 'A' },
      { iid: 3, title: 'C' },
    ]);
    expect(await alertsOf(premium, id)).toMatchObject([
      { iid: 1, title: 'A', status: 'triggered', events: 3 },
      { iid: 2, title: 'B', status: 'resolved', events: 1, ended_at: new Date('2026-01-01T01:00:00Z') },
      { iid: 3, title: 'C', status: 'triggered', events: 1 },
    ]);
  });

  test('in one payload what is over goes first: while one of those with a fingerprint fires, an alert is open', async () => {
    const { id, metrics } = await makeSender(premium);
    const on = (instance: string, changes = {}) =>
      metricsItem('Down', { labels: { alertname: 'Down', instance }, ...changes });
    const over = { status: 'resolved' };
    bodyOf(await metrics(on('a'), on('b')), 200);
    bodyOf(await metrics(on('a'), on('b', over)), 200);
    const states = [
      { title: 'Down', status: 'resolved', events: 2 },
      { title: 'Down', status: 'triggered', events: 1 },
    ];
    expect(await alertsOf(premium, id)).toMatchObject(states);
    bodyOf(await metrics(on('a', over)), 200);
    expect(await alertsOf(premium, id)).toMatchObject(
      states.map((state) => ({ ...state, status: 'resolved' })),
    );
  });

  test('however many items a payload has, each is an alert; or none where one cannot be', async () => {
    const { id, metrics } = await makeSender(premium);
    const items = Array.from({ length: 1_500 }, (_, n) => metricsItem(`Alert ${n}`));
    const response = bodyOf(await metrics(...items), 200);
    expect(response).toEqual(items.map((_, n) => ({ iid: n + 1, title: `Alert ${n}` })));
    const broken = await metrics(metricsItem('whole'), { ...metricsItem('broken'), startsAt: 'no time' });
    expect(broken.status).toBe(400);
    expect(await alertsOf(premium, id)).toHaveLength(1_500);
  });

  test('all that a payload says is stored', async () => {
    const { id, integration, send } = await makeSender(premium);
    const payload = {
      title: 'All of it "quoted" \\ €',
      description: 'line\nline',
      start_time: '2026-01-02T03:04:05.678Z',
      service: 'web',
      monitoring_tool: 'Watcher',
      hosts: ['a', 'b, c', '{"}'],
      severity: 'HIGH',
      fingerprint: ['x', 'y'],
      runbook: 'https://example.com/run',
      service_environment_name: 'production',
      extra: { nested: [1, { deep: null }] },
    };
    bodyOf(await send(payload), 200);
    const [row] = await premium.app.services.database.sql`select * from alerts where project_id = ${id}`;
    expect(row).toMatchObject({
      integration_id: integration.id,
      issue_id: null,
      kind: 'http',
      title: payload.title,
      description: payload.description,
      severity: 'high',
      status: 'triggered',
      service: 'web',
      monitoring_tool: 'Watcher',
      hosts: payload.hosts,
      environment_name: 'production',
      runbook: payload.runbook,
      started_at: new Date(payload.start_time),
      payload,
    });
    expect(row?.fingerprint).toHaveLength(20);
    expect(row?.grouping_key).toEqual(row?.fingerprint);
    expect(row?.created_at).toEqual(row?.updated_at);
  });

  test('a payload that waits for its project keeps those of others waiting for nothing', async () => {
    const [held, other] = [await makeSender(premium), await makeSender(premium)];
    bodyOf(await held.send({ fingerprint: 'first' }), 200);
    let waiting: Promise<Called>[] = [];
    let answered = 0;
    await premium.app.services.database.sql.begin(async (tx) => {
      await tx`select from project_counters where project_id = ${held.id} for update`;
      waiting = Array.from({ length: 6 }, () => held.send({ fingerprint: 'same' }));
      for (const one of waiting) void one.then(() => (answered += 1));
      const others = await Promise.all(Array.from({ length: 12 }, () => other.send({ fingerprint: 'one' })));
      expect(others.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200));
      expect(answered).toBe(0);
    });
    const responses = await Promise.all(waiting);
    expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 200));
    expect(await alertsOf(premium, held.id)).toMatchObject([{ events: 1 }, { iid: 2, events: 6 }]);
    expect(await alertsOf(premium, other.id)).toMatchObject([{ iid: 1, events: 12 }]);
  });

  test('a project that is held for long leaves connections to what else is asked', async () => {
    const [held, other] = [await makeSender(premium), await makeSender(premium)];
    const waiting: Promise<Called>[] = [];
    const MOST_WAITED_TOGETHER = 50;
    await premium.app.services.database.sql.begin(async (tx) => {
      await tx`insert into project_counters (project_id) values (${held.id})
        on conflict (project_id) do update set alerts = project_counters.alerts`;
      // More alerts than connections, none of which can join a batch.
      for (let n = 0; n < 20; n++) {
        waiting.push(held.send({ title: `Held ${n}` }));
        await sleep(MOST_WAITED_TOGETHER + 10);
      }
      bodyOf(await premium.root(`GET /projects/${other.id}/alert_management_alerts`), 200);
    });
    for (const response of await Promise.all(waiting)) bodyOf(response, 200);
    expect(await alertsOf(premium, held.id)).toHaveLength(20);
  });

  test('what the database refuses of one is refused to that one only, and uses no number up', async () => {
    const { id, send } = await makeSender(premium);
    const { sql } = premium.app.services.database;
    await sql`alter table alerts add constraint no_stones check (title <> 'stone') not valid`;
    const titles = Array.from({ length: 24 }, (_, n) => (n % 5 === 3 ? 'stone' : `Title ${n}`));
    const responses = await Promise.all(titles.map((title) => send({ title })));
    await sql`alter table alerts drop constraint no_stones`;
    for (const [n, response] of responses.entries())
      expect(response.status === 200, `${titles[n]} is taken`).toBe(titles[n] !== 'stone');
    const iids = (await alertsOf(premium, id)).map(({ iid }) => iid);
    expect(iids).toEqual(iids.map((_, n) => n + 1));
  });

  test('what listeners need is told once of each that is made, and of each that ends', async () => {
    const { id, send } = await makeSender(premium);
    const { sql } = premium.app.services.database;
    const told: unknown[] = [];
    // The facts are copied, because the relay deletes them at once.
    await sql`create table told (fact text, payload jsonb)`;
    await sql.unsafe(`
      create function keep() returns trigger language plpgsql
        as $$ begin insert into told values (new.fact, new.payload); return null; end $$;
      create trigger told after insert on outbox for each row execute function keep()`);
    try {
      bodyOf(await send({ fingerprint: 'a' }), 200);
      bodyOf(await send({ fingerprint: 'a' }), 200);
      await sql`insert into incident_settings (project_id, create_issue, send_email, auto_close_incident, updated_at)
        values (${id}, true, true, false, now())`;
      bodyOf(await send({ fingerprint: 'b' }), 200);
      bodyOf(await send(ended('a', 'a')), 200);
      told.push(
        ...(await sql`select fact, payload from told where fact like 'alert_%' order by payload->'alert_id', fact`),
      );
    } finally {
      await sql`drop trigger told on outbox`;
      await sql`drop table told`;
    }
    const alerts = await sql`select id from alerts where project_id = ${id} order by iid`;
    const [a, b] = alerts.map((row) => row.id);
    const created = (alert_id: unknown, on: boolean) => ({
      fact: 'alert_created',
      payload: { project_id: id, alert_id, create_issue: on, send_email: on },
    });
    expect(told).toEqual([
      created(a, false),
      {
        fact: 'alert_recovered',
        payload: { project_id: id, alert_id: a, issue_id: null, auto_close: false },
      },
      created(b, true),
    ]);
  });
});

describe('below premium', () => {
  test('each payload is an alert, and a recovery ends what has its fingerprint', async () => {
    const { id, send } = await makeSender(free);
    const payload = { title: 'Disk full', fingerprint: 'disk' };
    for (let n = 0; n < 3; n++) bodyOf(await send(payload), 200);
    bodyOf(await send({ title: 'Other', fingerprint: 'other' }), 200);
    bodyOf(await send({ title: 'None' }), 200);
    expect(bodyOf(await send(ended('x', 'disk')), 200)).toEqual(
      [1, 2, 3].map((iid) => ({ iid, title: 'Disk full' })),
    );
    expect(await alertsOf(free, id)).toMatchObject([
      { iid: 1, events: 1, status: 'resolved' },
      { iid: 2, events: 1, status: 'resolved' },
      { iid: 3, events: 1, status: 'resolved' },
      { iid: 4, events: 1, status: 'triggered' },
      { iid: 5, events: 1, status: 'triggered' },
    ]);
    // A recovery without a fingerprint matches no alert, not even one without a fingerprint.
    expect((await send({ title: 'None', end_time: '2026-01-01T00:00:00Z' })).status).toBe(400);
  });

  test('items of a metrics payload are alerts each, and end by what they say', async () => {
    const { id, metrics } = await makeSender(free);
    bodyOf(await metrics(metricsItem('A'), metricsItem('A'), metricsItem('B')), 200);
    bodyOf(await metrics(metricsItem('A', { status: 'resolved' })), 200);
    expect(await alertsOf(free, id)).toMatchObject([
      { title: 'A', status: 'resolved' },
      { title: 'A', status: 'resolved' },
      { title: 'B', status: 'triggered' },
    ]);
  });
});
