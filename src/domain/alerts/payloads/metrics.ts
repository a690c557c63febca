/** The payload of metrics webhooks: several alerts, each with labels and annotations. */

import { badRequest } from '../../../platform/failure.ts';
import { type JsonObject, limits, type ParsedAlert } from '../records.ts';
import { metricsFingerprint } from './fingerprint.ts';
import { metricsSeverity } from './severity.ts';
import { storable, storableText } from './storable.ts';
import { timeOf } from './times.ts';
import { at, cut, cutOrNull, firstOf, isList, isObject, type Path, textOf, type Value } from './values.ts';

const REQUIRED = [
  'alerts',
  'commonAnnotations',
  'commonLabels',
  'externalURL',
  'groupKey',
  'groupLabels',
  'receiver',
  'status',
  'version',
] as const;

const hasRequired = (payload: JsonObject): boolean =>
  REQUIRED.every((name) => Object.hasOwn(payload, name)) && isList(payload.alerts);

/** Whether the payload is of version 4, which is parsed as metrics at any address. */
export const isMetricsShape = (payload: JsonObject): boolean =>
  hasRequired(payload) && payload.version === '4';

const TITLE: readonly Path[] = [
  ['annotations', 'title'],
  ['annotations', 'summary'],
  ['labels', 'alertname'],
];
/** Our name, then the one in existing rules. */
const Y_LABEL: readonly Path[] = [
  ['annotations', 'service_y_label'],
  ['annotations', 'gitlab_y_label'],
  ...TITLE,
];
const INCIDENT_MARKDOWN: readonly Path[] = [
  ['annotations', 'service_incident_markdown'],
  ['annotations', 'gitlab_incident_markdown'],
];
const ENVIRONMENT: readonly Path[] = [
  ['labels', 'service_environment_name'],
  ['labels', 'gitlab_environment_name'],
];
/** Attributes of an item that are kept beside labels and annotations. */
const KNOWN = ['status', 'startsAt', 'endsAt', 'generatorURL', 'fingerprint'];
/** The sender's name in public clients. */
const MONITORING_TOOL = 'Prometheus';

const objectOf = (value: Value): JsonObject => (isObject(value) ? value : {});

/** Labels distinguish alerts of one title: by machine, job or namespace. */
function kept(item: JsonObject): JsonObject {
  const known = KNOWN.flatMap((name) => (item[name] === undefined ? [] : [[name, item[name]] as const]));
  return {
    ...Object.fromEntries(known),
    labels: objectOf(item.labels),
    annotations: objectOf(item.annotations),
  };
}

/** The query in a graph's address. */
function queryOf(generatorUrl: Value): string | undefined {
  const address = textOf(generatorUrl) ?? '';
  const [beforeFragment = ''] = address.split('#', 1);
  const start = beforeFragment.indexOf('?');
  if (start === -1) return undefined;
  // Only this parameter is decoded: half a million of them would take seconds.
  const written = /(?:^|&)g0\.expr=([^&]*)/.exec(beforeFragment.slice(start + 1))?.[1];
  if (written === undefined) return undefined;
  const query = textOf(new URLSearchParams(`query=${written}`).get('query'));
  return query === undefined ? undefined : storableText(query);
}

/** The end of a resolved alert; a firing one has none, though its sender names a time of expiry. */
function endOf(item: JsonObject, now: Date): Date | null {
  const end = timeOf(item.endsAt);
  if (textOf(item.status)?.trim().toLowerCase() === 'resolved') return end ?? now;
  return end !== undefined && end <= now ? end : null;
}

function parseItem(item: JsonObject, place: string, now: Date): ParsedAlert {
  const text = (paths: readonly Path[]): string | undefined =>
    firstOf(
      paths.map((path) => at(item, path)),
      textOf,
    );
  const title = text(TITLE);
  if (title === undefined) throw badRequest(`${place}.annotations.title is missing`);
  const startsAt = text([['startsAt']]);
  if (startsAt === undefined) throw badRequest(`${place}.startsAt is missing`);
  const startedAt = timeOf(item.startsAt);
  if (startedAt === undefined) throw badRequest(`${place}.startsAt is not a time`);
  const query = queryOf(item.generatorURL);
  const endedAt = endOf(item, now);

  return {
    title: cut(title, limits.title),
    description: cutOrNull(text([['annotations', 'description']]), limits.description),
    severity: metricsSeverity(at(item, ['labels', 'severity'])),
    service: null,
    monitoringTool: MONITORING_TOOL,
    hosts: [],
    environmentName: cutOrNull(text(ENVIRONMENT), limits.environmentName),
    runbook: cutOrNull(text([['annotations', 'runbook']]), limits.runbook),
    query: cutOrNull(query, limits.query),
    yLabel: cutOrNull(text(Y_LABEL), limits.yLabel),
    incidentMarkdown: text(INCIDENT_MARKDOWN) ?? null,
    fingerprint: metricsFingerprint(startsAt, title, query),
    startedAt,
    endedAt,
    resolves: endedAt !== null,
    payload: kept(item),
  };
}

/**
 * Parses each item of `alerts`; undefined when a required top-level attribute is missing (422). An item
 * without title or start throws a 400 that names it: nothing of the payload is ingested. Recoveries come
 * first: items that differ in labels alone share a fingerprint, and while one fires, an alert must be open.
 */
export function parseMetrics(payload: JsonObject, { now }: { now: Date }): ParsedAlert[] | undefined {
  const { alerts } = payload;
  if (!hasRequired(payload) || !isList(alerts)) return undefined;
  return alerts
    .map((item, index) => {
      if (!isObject(item)) throw badRequest(`alerts[${index}] is not an object`);
      return parseItem(storable(item), `alerts[${index}]`, now);
    })
    .toSorted((one, other) => Number(other.resolves) - Number(one.resolves));
}
