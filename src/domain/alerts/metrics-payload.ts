/** The payload of metrics-alerting webhooks: several alerts at once, each with labels and annotations. */
import { type JsonObject, limits, type ParsedAlert } from '../../core/alerts/records.ts';
import { badRequest } from '../../platform/failure.ts';
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

/** Whether it is one of version 4, to be read as such whichever address it came to. */
export const isMetricsShape = (payload: JsonObject): boolean =>
  hasRequired(payload) && payload.version === '4';

const TITLE: readonly Path[] = [
  ['annotations', 'title'],
  ['annotations', 'summary'],
  ['labels', 'alertname'],
];
/** Each of ours, then the one that existing rules have. */
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
/** What is kept of an item beside its labels and annotations; any other attribute is ignored. */
const KNOWN = ['status', 'startsAt', 'endsAt', 'generatorURL', 'fingerprint'];
/** As public clients know the sender of such payloads. */
const MONITORING_TOOL = 'Prometheus';

const objectOf = (value: Value): JsonObject => (isObject(value) ? value : {});

/** The labels tell apart what has one title: the machine, the job, the namespace. */
function kept(item: JsonObject): JsonObject {
  const known = KNOWN.flatMap((name) => (item[name] === undefined ? [] : [[name, item[name]] as const]));
  return {
    ...Object.fromEntries(known),
    labels: objectOf(item.labels),
    annotations: objectOf(item.annotations),
  };
}

/** The query of a graph of the metric, as its address has it. */
function queryOf(generatorUrl: Value): string | undefined {
  const address = textOf(generatorUrl) ?? '';
  const [beforeFragment = ''] = address.split('#', 1);
  const start = beforeFragment.indexOf('?');
  if (start === -1) return undefined;
  // Only this one is decoded: an address of half a million parameters would take seconds.
  const written = /(?:^|&)g0\.expr=([^&]*)/.exec(beforeFragment.slice(start + 1))?.[1];
  if (written === undefined) return undefined;
  const query = textOf(new URLSearchParams(`query=${written}`).get('query'));
  return query === undefined ? undefined : storableText(query);
}

/** When it ended: what still fires has no end, though its sender names the time at which it gives up waiting for news. */
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
 * One for each item of `alerts`; undefined when a required top-level attribute is missing (422). An item without a title or a
 * start throws a 400 that names what is missing: none of the payload is taken then. What is over comes before what fires:
 * items that differ in labels alone have one fingerprint, and while one of them fires, an alert is to be open.
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
