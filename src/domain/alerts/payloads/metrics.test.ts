/** Attributes of the metrics payload: fallbacks, severity, end, and the kept part (spec: Alert). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../platform/db/rows.ts';
import { Failure } from '../../../platform/failure.ts';
import { sha1 } from '../../../platform/secret.ts';
import type { JsonObject, ParsedAlert } from '../records.ts';
import { isMetricsShape, parseMetrics } from './metrics.ts';

const now = new Date('2026-04-01T12:00:00Z');
const startsAt = '2026-03-31T08:00:00Z';
const ended = '2026-03-31T09:00:00Z';
const NEVER = '0001-01-01T00:00:00Z';

/** As Alertmanager sends it. */
const webhook = (alerts: Json): JsonObject => ({
  version: '4',
  groupKey: '{}:{alertname="Down"}',
  truncatedAlerts: 0,
  status: 'firing',
  receiver: 'web',
  groupLabels: {},
  commonLabels: {},
  commonAnnotations: {},
  externalURL: 'http://alertmanager:9093',
  alerts,
});
const item = (more: JsonObject = {}): JsonObject => ({ startsAt, labels: { alertname: 'Down' }, ...more });
const parse = (alerts: Json): ParsedAlert[] => parseMetrics(webhook(alerts), { now }) ?? expect.unreachable();
const parseOne = (given: JsonObject): ParsedAlert => parse([given])[0] ?? expect.unreachable();

test('everything at once', () => {
  const alert: JsonObject = {
    status: 'firing',
    labels: { alertname: 'Down', severity: 'warning', service_environment_name: 'production', job: 'web' },
    annotations: {
      title: 'Web is down',
      summary: 'Short',
      description: 'Long',
      runbook: 'https://example.com/down',
      service_incident_markdown: '**Look**',
      service_y_label: 'Requests',
      dashboard: { url: 'https://example.com', panels: [1, 2] },
    },
    startsAt,
    endsAt: NEVER,
    generatorURL: 'http://prometheus:9090/graph?g0.expr=up%7Bjob%3D%22web%22%7D+%3D%3D+0&g0.tab=1',
    fingerprint: 'c0ffee',
    values: { A: 1 },
  };
  expect(parseOne(alert)).toEqual({
    title: 'Web is down',
    description: 'Long',
    severity: 'low',
    service: null,
    monitoringTool: 'Prometheus',
    hosts: [],
    environmentName: 'production',
    runbook: 'https://example.com/down',
    query: 'up{job="web"} == 0',
    yLabel: 'Requests',
    incidentMarkdown: '**Look**',
    fingerprint: sha1(`${startsAt}/Web is down/up{job="web"} == 0`),
    startedAt: new Date(startsAt),
    endedAt: null,
    resolves: false,
    payload: {
      status: 'firing',
      startsAt,
      endsAt: NEVER,
      generatorURL: alert.generatorURL,
      fingerprint: 'c0ffee',
      labels: alert.labels,
      annotations: alert.annotations,
    },
  });
});

describe('one attribute', () => {
  const long = 'x'.repeat(2000);
  const ends = (status: string, endsAt: Json) => item({ status, endsAt });
  const query = (generatorURL: Json) => item({ generatorURL });
  test.each<[string, JsonObject, Partial<ParsedAlert>]>([
    ['the title of the labels', item(), { title: 'Down', yLabel: 'Down' }],
    ['the title of the summary', item({ annotations: { summary: 'S' } }), { title: 'S', yLabel: 'S' }],
    ['the title', item({ annotations: { title: 'T', summary: 'S' } }), { title: 'T', yLabel: 'T' }],
    [
      'a title that is empty',
      item({ annotations: { title: '', summary: 'S' } }),
      { title: 'S', yLabel: 'S' },
    ],
    ['a title that is null', item({ annotations: { title: null } }), { title: 'Down' }],
    ['a title that is an object', item({ annotations: { title: { en: 'T' } } }), { title: 'Down' }],
    ['a title that is a number', item({ annotations: { title: 5 } }), { title: '5' }],
    ['annotations that are none', item({ annotations: 'T' }), { title: 'Down', payload: expect.anything() }],
    [
      'a title too long: its fingerprint is of all of it, and its axis says more',
      item({ annotations: { title: long } }),
      {
        title: `${'x'.repeat(197)}...`,
        yLabel: `${'x'.repeat(252)}...`,
        fingerprint: sha1(`${startsAt}/${long}/`),
      },
    ],
    ['a NUL', item({ annotations: { title: 'a\0b' } }), { title: 'a\uFFFDb' }],
    ['a description', item({ annotations: { description: 'D' } }), { description: 'D' }],
    ['no description', item({ annotations: { summary: 'S' } }), { description: null }],
    [
      'a description too long',
      item({ annotations: { description: long } }),
      { description: `${'x'.repeat(997)}...` },
    ],
    ['a runbook', item({ annotations: { runbook: 'R' } }), { runbook: 'R' }],
    [
      'a runbook too long',
      item({ annotations: { runbook: 'x'.repeat(2_001) } }),
      { runbook: `${'x'.repeat(1_997)}...` },
    ],
    [
      'a query too long: the fingerprint is of all of it',
      query(`?g0.expr=${'x'.repeat(10_001)}`),
      { query: `${'x'.repeat(9_997)}...`, fingerprint: sha1(`${startsAt}/Down/${'x'.repeat(10_001)}`) },
    ],
    ['an axis', item({ annotations: { service_y_label: 'Y', title: 'T' } }), { yLabel: 'Y', title: 'T' }],
    ['an axis by its public name', item({ annotations: { gitlab_y_label: 'Y' } }), { yLabel: 'Y' }],
    [
      'an axis by both names',
      item({ annotations: { service_y_label: 'A', gitlab_y_label: 'B' } }),
      { yLabel: 'A' },
    ],
    ['Markdown', item({ annotations: { service_incident_markdown: '*M*' } }), { incidentMarkdown: '*M*' }],
    [
      'Markdown by its public name',
      item({ annotations: { gitlab_incident_markdown: '*M*' } }),
      { incidentMarkdown: '*M*' },
    ],
    ['no Markdown', item(), { incidentMarkdown: null }],
    [
      'an environment',
      item({ labels: { alertname: 'D', service_environment_name: 'e' } }),
      { environmentName: 'e' },
    ],
    [
      'an environment by its public name',
      item({ labels: { alertname: 'D', gitlab_environment_name: 'e' } }),
      { environmentName: 'e' },
    ],
    [
      'an environment among the annotations is none',
      item({ annotations: { service_environment_name: 'e' } }),
      { environmentName: null },
    ],
    ['a severity', item({ labels: { alertname: 'D', severity: 'PAGE' } }), { severity: 'high' }],
    ['no severity', item(), { severity: 'critical' }],
    [
      'a severity that is unknown',
      item({ labels: { alertname: 'D', severity: 'unknown' } }),
      { severity: 'critical' },
    ],
    ['a severity beside the labels is none', item({ severity: 'low' }), { severity: 'critical' }],
    ['a query', query('http://p/graph?g0.expr=vector%281%29&g0.tab=1'), { query: 'vector(1)' }],
    ['a query that is not the first', query('http://p/graph?g0.tab=1&g0.expr=a+b#x?y'), { query: 'a b' }],
    ['no query of a fragment', query('http://p/graph#?g0.expr=a'), { query: null }],
    ['no query of another graph', query('http://p/graph?g1.expr=a'), { query: null }],
    ['an empty query', query('http://p/graph?g0.expr='), { query: null }],
    [
      'a query behind more than can be decoded',
      query(`http://p/?${'a&'.repeat(500_000)}g0.expr=b`),
      { query: 'b' },
    ],
    ['a query of another name that ends alike', query('http://p/graph?xg0.expr=a'), { query: null }],
    ['a query of an address that is none', query('?g0.expr=%zz%00'), { query: '%zz\uFFFD' }],
    ['a generator that is no text', query({ url: '?g0.expr=a' }), { query: null }],
    [
      'the query is part of the fingerprint',
      query('?g0.expr=a'),
      { fingerprint: sha1(`${startsAt}/Down/a`) },
    ],
    ['a start as it is written is part of it too', item(), { fingerprint: sha1(`${startsAt}/Down/`) }],
    [
      'a start in milliseconds',
      item({ startsAt: 1_775_000_000_000 }),
      { startedAt: new Date(1_775_000_000_000) },
    ],
    ['firing without an end', ends('firing', NEVER), { resolves: false, endedAt: null }],
    [
      'firing until further notice',
      ends('firing', '2026-04-01T12:04:00Z'),
      { resolves: false, endedAt: null },
    ],
    ['firing, but ended', ends('firing', ended), { resolves: true, endedAt: new Date(ended) }],
    ['ended this moment', ends('firing', now.toISOString()), { resolves: true, endedAt: now }],
    ['an end that is no time', ends('firing', 'soon'), { resolves: false, endedAt: null }],
    ['an end that is null', ends('firing', null), { resolves: false, endedAt: null }],
    ['resolved', ends('resolved', ended), { resolves: true, endedAt: new Date(ended) }],
    ['resolved in capitals', ends('RESOLVED', ended), { resolves: true, endedAt: new Date(ended) }],
    ['resolved without an end', item({ status: 'resolved' }), { resolves: true, endedAt: now }],
    ["resolved with Go's zero time", ends('resolved', NEVER), { resolves: true, endedAt: now }],
    ['an end without a status', item({ endsAt: ended }), { resolves: true, endedAt: new Date(ended) }],
    ['another status', ends('suppressed', NEVER), { resolves: false, endedAt: null }],
  ])('%s', (_what, given, expected) => {
    expect(parseOne(given)).toMatchObject(expected);
  });
});

test('of an item its known attributes, all labels and all annotations are kept, and nothing else', () => {
  const annotations = { summary: 'S', nested: { a: [1] } };
  const labels = {
    alertname: 'Down',
    instance: 'web-1:9100',
    job: 'node',
    namespace: 'shop',
    nested: { a: 1 },
  };
  const more = { values: {}, silenceURL: 'x', fingerprint: 'f', hosts: ['a'], annotations, labels };
  expect(parseOne(item(more))).toMatchObject({
    payload: { startsAt, fingerprint: 'f', labels, annotations },
    // Labels and the sender's own fingerprint do not group alerts.
    fingerprint: parseOne(item({ annotations })).fingerprint,
  });
  expect(Object.keys(parseOne(item(more)).payload)).toEqual([
    'startsAt',
    'fingerprint',
    'labels',
    'annotations',
  ]);
  expect(parseOne(item({ annotations: ['S'] })).payload).toMatchObject({ annotations: {} });
  expect(parseOne(item({ labels: ['S'], annotations: { title: 'T' } })).payload).toMatchObject({
    labels: {},
  });
});

test('one alert for each item, in their order, however many', () => {
  const names = Array.from({ length: 1000 }, (_, index) => `Down ${index}`);
  const alerts = parse(names.map((alertname) => item({ labels: { alertname } })));
  expect(alerts.map(({ title }) => title)).toEqual(names);
  expect(parse([])).toEqual([]);
});

describe('which payloads are of this shape', () => {
  const { version: _, ...unversioned } = webhook([]);
  test.each<[string, JsonObject, boolean, boolean]>([
    ['all of it', webhook([]), true, true],
    ['another version: only where such are sent', { ...webhook([]), version: '1' }, true, false],
    ['no version', unversioned, false, false],
    ['a generic payload', { title: 'Down' }, false, false],
    ['nothing', {}, false, false],
    ['null where an object is expected', { ...webhook([]), commonLabels: null }, true, true],
    ...[
      'alerts',
      'commonAnnotations',
      'commonLabels',
      'externalURL',
      'groupKey',
      'groupLabels',
      'receiver',
      'status',
    ].map((name): [string, JsonObject, boolean, boolean] => {
      const { [name]: _without, ...rest } = webhook([]);
      return [`without ${name}`, rest, false, false];
    }),
    ['alerts that are no list', webhook({ 0: item() }), false, false],
    ['alerts that are null', webhook(null), false, false],
  ])('%s', (_what, payload, isRead, isKnownAnywhere) => {
    expect(parseMetrics(payload, { now }) !== undefined).toBe(isRead);
    expect(isMetricsShape(payload)).toBe(isKnownAnywhere);
  });
});

test.each<[string, Json, RegExp]>([
  ['no title', { startsAt, labels: { severity: 'low' } }, /alerts\[1\]\.annotations\.title is missing/],
  ['an empty title', { startsAt, annotations: { title: ' ' } }, /alerts\[1\]\.annotations\.title is missing/],
  ['no start', { labels: { alertname: 'Down' } }, /alerts\[1\]\.startsAt is missing/],
  ['an empty start', item({ startsAt: '' }), /alerts\[1\]\.startsAt is missing/],
  ['a start that is none', item({ startsAt: 'now' }), /alerts\[1\]\.startsAt is not a time/],
  ['a text', 'Down', /alerts\[1\] is not an object/],
  ['null', null, /alerts\[1\] is not an object/],
  ['a list', [item()], /alerts\[1\] is not an object/],
])('an item with %s is a 400 that says so', (_what, given, reason) => {
  expect(() => parse([item(), given])).toThrow(reason);
  expect(() => parse([item(), given])).toThrow(Failure);
});

test('a payload of Grafana is read at the address of metrics', () => {
  const alert = {
    status: 'firing',
    labels: { alertname: 'High latency', grafana_folder: 'Web', severity: 'warning' },
    annotations: { summary: 'Slow', description: 'Slower than 1 s' },
    startsAt: '2026-03-01T10:00:00.123456789+02:00',
    endsAt: '0001-01-01T00:00:00Z',
    generatorURL: 'https://grafana.example/alerting/grafana/abc/view?orgId=1',
    fingerprint: 'c6eadffa33fcdf37',
    silenceURL: 'https://grafana.example/alerting/silence/new',
    dashboardURL: '',
    panelURL: '',
    values: { A: 1.5 },
    valueString: '[ var=A value=1.5 ]',
    orgId: 1,
  };
  const payload = {
    ...webhook([alert, { ...alert, status: 'resolved', endsAt: '2026-03-01T10:05:00+02:00' }]),
    version: '1',
    orgId: 1,
    truncatedAlerts: 0,
    title: '[FIRING:1, RESOLVED:1] High latency Web',
    state: 'alerting',
    message: '**Firing**',
  };
  expect(isMetricsShape(payload)).toBe(false);
  const known = {
    title: 'Slow',
    description: 'Slower than 1 s',
    severity: 'low',
    startedAt: new Date('2026-03-01T08:00:00.123Z'),
    query: null,
  };
  expect(parseMetrics(payload, { now })).toMatchObject([
    { ...known, resolves: true, endedAt: new Date('2026-03-01T08:05:00Z') },
    { ...known, resolves: false, endedAt: null },
  ]);
});

test('no JSON whatever throws anything but a refusal, and what is read of it can be stored', () => {
  const value = fc.jsonValue({ depthSize: 'small', maxDepth: 3, stringUnit: 'binary' });
  const text = fc.oneof(value, fc.string(), fc.constantFrom(startsAt, NEVER, 'resolved', '?g0.expr=%00%d8'));
  const part = (...names: string[]) =>
    fc.record(Object.fromEntries(names.map((name) => [name, text])), { requiredKeys: [] });
  const anyItem = fc.oneof(
    value,
    fc.record({
      startsAt: text,
      endsAt: text,
      status: text,
      generatorURL: text,
      labels: fc.oneof(value, part('alertname', 'severity', 'service_environment_name')),
      annotations: fc.oneof(value, part('title', 'summary', 'description', 'runbook', 'service_y_label')),
    }),
  );
  fc.assert(
    fc.property(fc.oneof(value, fc.array(anyItem, { maxLength: 3 })), value, (alerts, status) => {
      const payload: JsonObject = JSON.parse(JSON.stringify({ ...webhook([]), alerts, status }));
      try {
        expect(JSON.stringify(parseMetrics(payload, { now }) ?? [])).not.toMatch(
          /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/,
        );
      } catch (error) {
        expect(error).toBeInstanceOf(Failure);
      }
    }),
  );
});
