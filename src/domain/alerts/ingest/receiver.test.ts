/** Receivers' addresses: access and responses. */
import { expect, test } from 'vitest';
import { makeIntegration, metricsItem, metricsPayload, postAlert } from '../../../../test/support/alerts.ts';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeGroup, makeProject, uniqueName } from '../../../../test/support/factories.ts';

const app = useApp({ env: { ASHLAR_TIER: 'premium' } });
const sql = () => app.app.services.database.sql;
const post = (path: string, payload: unknown, options?: Parameters<typeof postAlert>[3]) =>
  postAlert(app.url, path, payload, options);

const titled = (title: string) => [{ iid: expect.any(Number), title }];

test('each address takes what its integration is for, with the dash before it or without', async () => {
  const { id, path_with_namespace: path } = await makeProject(app);
  const http = await makeIntegration(sql(), id);
  const second = await makeIntegration(sql(), id);
  const metrics = await makeIntegration(sql(), id, { kind: 'metrics' });
  const addresses = [
    ['alerts/notify.json', http.key],
    ['alerts/notify', http.key],
    [`alerts/notify/any-name/${http.identifier}.json`, http.key],
    [`alerts/notify/any-name/${http.identifier}`, http.key],
    [`alerts/notify/any-name/${second.identifier}.json`, second.key],
  ] as const;
  for (const dash of ['', '-/']) {
    for (const [address, key] of addresses) {
      const title = uniqueName('alert');
      const response = await post(`${path}/${dash}${address}`, { title }, { key });
      expect(bodyOf(response, 200), address).toEqual(titled(title));
    }
    for (const word of ['metrics', 'prometheus']) {
      for (const ending of ['notify.json', 'notify']) {
        const title = uniqueName('metric');
        const payload = metricsPayload(metricsItem(title), metricsItem(`${title}-b`));
        const response = await post(`${path}/${dash}${word}/alerts/${ending}`, payload, { key: metrics.key });
        expect(bodyOf(response, 200)).toEqual([...titled(title), ...titled(`${title}-b`)]);
      }
    }
  }
  // A metrics payload is parsed as one at any address.
  const payload = metricsPayload(metricsItem('elsewhere'));
  expect(bodyOf(await post(`${path}/alerts/notify.json`, payload, { key: http.key }), 200)).toEqual(
    titled('elsewhere'),
  );
  const [stored] = await sql()`select kind, query, integration_id from alerts where title = 'elsewhere'`;
  expect(stored).toEqual({ kind: 'metrics', query: 'up == 0', integration_id: http.id });
});

test('an alert of a metrics payload shows all that its sender tells apart alerts by', async () => {
  const { id, path_with_namespace: path } = await makeProject(app);
  const { key } = await makeIntegration(sql(), id, { kind: 'metrics' });
  const labels = { alertname: 'Down', instance: 'web-1:9100', job: 'node', namespace: 'shop' };
  const payload = metricsPayload(metricsItem('Down', { labels, fingerprint: 'c6eadffa33fcdf37' }));
  bodyOf(await post(`${path}/metrics/alerts/notify.json`, payload, { key }), 200);
  const alert = bodyOf(await app.root(`GET /projects/${id}/alert_management_alerts/1`), 200);
  expect(alert).toMatchObject({
    monitoring_tool: 'Prometheus',
    details: { labels, fingerprint: 'c6eadffa33fcdf37' },
  });
  const found = await app.root(`GET /projects/${id}/alert_management_alerts`, { query: 'search=prometheus' });
  expect(bodyOf(found, 200)).toHaveLength(1);
});

test('a project may be called as the word for metrics, and a path may be written in capitals', async () => {
  const group = await makeGroup(app);
  const { id } = await makeProject(app, { path: 'metrics', namespace_id: group.id });
  const { key } = await makeIntegration(sql(), id);
  const path = `${group.full_path}/metrics/alerts/notify.json`;
  for (const address of [path, `${group.full_path.toUpperCase()}/Metrics/alerts/notify.json`])
    expect(bodyOf(await post(address, { title: 'Down' }, { key }), 200)).toEqual(titled('Down'));
  // Parsed as the project's payload, not as metrics, whose attributes it lacks.
  const subgroup = await makeGroup(app, { parent_id: group.id });
  const inner = await makeProject(app, { path: 'metrics', namespace_id: subgroup.id });
  const other = await makeIntegration(sql(), inner.id);
  const response = await post(
    `${subgroup.full_path}/metrics/alerts/notify.json`,
    { title: 'Up' },
    { key: other.key },
  );
  expect(bodyOf(response, 200)).toEqual(titled('Up'));
});

test('a path that the project had before is served where it is', async () => {
  const { id, path_with_namespace: before } = await makeProject(app);
  const { key } = await makeIntegration(sql(), id);
  const path = uniqueName('renamed');
  bodyOf(await app.root(`PUT /projects/${id}`, { body: { path } }), 200);
  const response = await post(`${before}/alerts/notify.json`, { title: 'Moved' }, { key });
  expect(bodyOf(response, 200)).toEqual(titled('Moved'));
});

test('the key comes as a bearer token, or as the password of anybody', async () => {
  const { id, path_with_namespace: path } = await makeProject(app);
  const { key } = await makeIntegration(sql(), id);
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
  for (const [authorization, status] of [
    [`Bearer ${key}`, 200],
    [`bearer ${key}`, 200],
    [basic(`:${key}`), 200],
    [basic(`alertmanager:${key}`), 200],
    [basic(key), 401],
    [basic(`${key}:`), 401],
    [`Bearer ${key}x`, 401],
    [`Bearer ${key.slice(1)}`, 401],
    ['Bearer', 401],
    [`Digest ${key}`, 401],
    ['Basic ====', 401],
    [key, 401],
  ] as const) {
    const response = await post(`${path}/alerts/notify.json`, {}, { headers: { authorization } });
    expect([authorization, response.status]).toEqual([authorization, status]);
    if (status === 401) expect(response.body).toEqual({ message: '401 Unauthorized' });
  }
  // Neither a session nor a user's token is an ingest key.
  const token = { 'private-token': 'glpat-root-token-of-the-tests' };
  expect((await post(`${path}/alerts/notify.json`, {}, { headers: token })).status).toBe(401);
  expect((await post(`${path}/alerts/notify.json?private_token=${key}`, {})).status).toBe(401);
});

test('who may not is told 404, 400, 422, 403 and 401, in this order', async () => {
  const { id, path_with_namespace: path } = await makeProject(app);
  const broken = 'no JSON';
  const notMetrics = { status: 'firing' };
  const address = `${path}/alerts/notify.json`;
  const status = async (where: string, payload: unknown, key?: string) =>
    (await post(where, payload, { key })).status;
  expect(await status('no/where/alerts/notify.json', broken)).toBe(404);
  expect(await status('no/where/metrics/alerts/notify.json', notMetrics)).toBe(404);
  expect(await status('nowhere/alerts/notify.json', {})).toBe(404);
  expect(await status(`${path}%00/alerts/notify.json`, {})).toBe(404);
  expect(await status(address, broken)).toBe(400);
  expect(await status(address, {})).toBe(403);
  const off = await makeIntegration(sql(), id, { active: false });
  expect(await status(address, {}, off.key)).toBe(403);
  expect(await status(`${path}/alerts/notify/x/${off.identifier}.json`, {}, off.key)).toBe(403);
  const http = await makeIntegration(sql(), id);
  expect(await status(address, {}, off.key)).toBe(401);
  expect(await status(address, broken, off.key)).toBe(400);
  expect(await status(`${path}/alerts/notify/x/${off.identifier}.json`, {}, http.key)).toBe(403);
  expect(await status(`${path}/alerts/notify/x/a%00b.json`, {}, http.key)).toBe(403);
  const metrics = `${path}/metrics/alerts/notify.json`;
  expect(await status(metrics, notMetrics)).toBe(422);
  expect(await status(metrics, metricsPayload(metricsItem('x')))).toBe(403);
  await makeIntegration(sql(), id, { kind: 'metrics' });
  expect(await status(metrics, metricsPayload(metricsItem('x')), http.key)).toBe(401);
  expect(await status(metrics, { ...metricsPayload(), groupKey: undefined }, http.key)).toBe(422);
  const [made] = await sql()`select count(*)::int as alerts from alerts where project_id = ${id}`;
  expect(made).toEqual({ alerts: 0 });
});

test('one whose key was reset, that was disabled or whose project is archived is refused at once', async () => {
  const { id, path_with_namespace: path } = await makeProject(app);
  const integration = await makeIntegration(sql(), id);
  const status = async () => (await post(`${path}/alerts/notify.json`, {}, { key: integration.key })).status;
  expect(await status()).toBe(200);
  await sql()`update alert_integrations set key_digest = '\\x00' where id = ${integration.id}`;
  expect(await status()).toBe(401);
  await sql()`update alert_integrations set active = false where id = ${integration.id}`;
  expect(await status()).toBe(403);
  await sql()`update alert_integrations set active = true where id = ${integration.id}`;
  bodyOf(await app.root(`POST /projects/${id}/archive`), 201);
  expect(await status()).toBe(403);
});

test('what cannot be taken is a 400 that says why, and leaves the connection usable', async () => {
  const { id, path_with_namespace: path } = await makeProject(app);
  const { key } = await makeIntegration(sql(), id);
  const address = `${path}/alerts/notify.json`;
  const mebibyte = 1_048_576;
  const sized = (bytes: number) => JSON.stringify({ title: 'Large', x: '' }).padEnd(bytes, ' ');
  for (const [payload, status] of [
    [sized(mebibyte), 200],
    [sized(mebibyte + 1), 400],
    [sized(5 * mebibyte), 400],
    [`${'{"a":'.repeat(99)}{}${'}'.repeat(99)}`, 200],
    [`${'{"a":'.repeat(100)}{}${'}'.repeat(100)}`, 400],
    ['{"title":"\\u0000 \\ud800"}', 200],
    ['', 400],
    ['[]', 400],
    ['null', 400],
    ['{"title":', 400],
  ] as const) {
    const response = await post(address, payload, { key });
    expect([payload.slice(0, 20), payload.length, response.status]).toEqual([
      payload.slice(0, 20),
      payload.length,
      status,
    ]);
    if (status === 400) expect(response.body.message).toMatch(/^400 Bad request - /);
  }
  expect((await post(address, sized(mebibyte), { key: 'wrong' })).status).toBe(401);
  expect((await post(`${path}x/alerts/notify.json`, sized(mebibyte), { key })).status).toBe(404);
});

test('other methods are told so, and a project whose path ends like the address keeps its page', async () => {
  const { path_with_namespace: path } = await makeProject(app);
  expect((await app.root(`PUT /${path}/alerts/notify.json`, { raw: true })).status).toBe(405);
  const group = await makeGroup(app, { visibility: 'public' });
  const alerts = bodyOf(
    await app.root('POST /groups', {
      body: { name: 'alerts', path: 'alerts', parent_id: group.id, visibility: 'public' },
    }),
    201,
  );
  const project = await makeProject(app, { path: 'notify', namespace_id: alerts.id, visibility: 'public' });
  const page = await app.call(`GET /${project.path_with_namespace}`, { raw: true });
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
});

test('what a mapping of the integration says goes before the standard properties', async () => {
  const { id, path_with_namespace: path } = await makeProject(app);
  const mapping = { title: { path: ['event', 'name'], label: 'Name', type: 'string' } };
  const { key } = await makeIntegration(sql(), id, { mapping });
  const address = `${path}/alerts/notify.json`;
  const payload = { title: 'standard', event: { name: 'mapped' } };
  expect(bodyOf(await post(address, payload, { key }), 200)).toEqual(titled('mapped'));
  expect(bodyOf(await post(address, { title: 'standard' }, { key }), 200)).toEqual(titled('standard'));
  expect((await post(address, payload, { key: 'wrong' })).status).toBe(401);
});

test('beyond its limit a project is told to retry later, and nobody without a key uses it up', async () => {
  const { id, path_with_namespace: path } = await makeProject(app);
  const { key } = await makeIntegration(sql(), id);
  const address = `${path}/alerts/notify.json`;
  const name = 'throttle_incident_management_notification';
  const set = async (enabled: boolean) =>
    bodyOf(
      await app.root('PUT /application/settings', {
        body: {
          [`${name}_enabled`]: enabled,
          [`${name}_per_period`]: 3,
          [`${name}_period_in_seconds`]: 86_400,
        },
      }),
      200,
    );
  await set(true);
  try {
    for (let attempt = 0; attempt < 5; attempt++)
      expect((await post(address, {}, { key: 'wrong' })).status).toBe(401);
    const statuses = [];
    for (let attempt = 0; attempt < 4; attempt++) statuses.push((await post(address, {}, { key })).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    const refused = await post(address, {}, { key });
    expect(refused.text).toBe('Retry later\n');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const other = await makeProject(app);
    const another = await makeIntegration(sql(), other.id);
    const path = `${other.path_with_namespace}/alerts/notify.json`;
    expect((await post(path, {}, { key: another.key })).status).toBe(200);
  } finally {
    await set(false);
  }
  expect((await post(address, {}, { key })).status).toBe(200);
});

test('a large payload is read for who has the key only, and taken as a whole or not at all', async () => {
  const { id, path_with_namespace: path } = await makeProject(app);
  const { key } = await makeIntegration(sql(), id, { kind: 'metrics' });
  const address = `${path}/metrics/alerts/notify.json`;
  const items = Array.from({ length: 600 }, (_, n) => metricsItem(`large-${n}`));
  const wrong = metricsPayload(...items, metricsItem('', { labels: {} }));
  expect((await post(address, wrong, { key: 'wrong' })).status).toBe(401);
  expect((await post(address, wrong, { key })).status).toBe(400);
  expect(await sql()`select from alerts where project_id = ${id}`).toHaveLength(0);
  const repeated = metricsPayload(...items, metricsItem('large-0'));
  const responses = await Promise.all([post(address, repeated, { key }), post(address, repeated, { key })]);
  for (const response of responses) expect(bodyOf(response, 200)).toHaveLength(600);
  const stored = await sql()`select sum(events)::integer as events, count(*)::integer as alerts,
    max(events) as most from alerts where project_id = ${id}`;
  expect(stored).toEqual([{ events: 1_202, alerts: 600, most: 4 }]);
});

test('in maintenance it is 503, which is repeated', async () => {
  const { id, path_with_namespace: path } = await makeProject(app);
  const { key } = await makeIntegration(sql(), id);
  const set = (maintenance_mode: boolean) =>
    app.root('PUT /application/settings', { body: { maintenance_mode } });
  bodyOf(await set(true), 200);
  try {
    expect((await post(`${path}/alerts/notify.json`, {}, { key })).status).toBe(503);
  } finally {
    bodyOf(await set(false), 200);
  }
  expect((await post(`${path}/alerts/notify.json`, {}, { key })).status).toBe(200);
});
