/**
 * Parses payloads by the kind of their integration and ingests their alerts, with the public receivers'
 * refusals.
 */

import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { badRequest, Failure, forbidden, notFound, unauthenticated } from '../../../platform/failure.ts';
import { parseGeneric } from '../payloads/generic.ts';
import type { Mapping } from '../payloads/mapping.ts';
import { isMetricsShape, parseMetrics } from '../payloads/metrics.ts';
import { readPayload } from '../payloads/size.ts';
import type { JsonObject, ParsedAlert } from '../records.ts';
import { type Delivery, type IngestKey, type Presumed, type Receipt, take, takeLarge } from './delivery.ts';

/** The response's entry of an alert (spec: Alert). */
export type AlertResponse = { iid: number; title: string };

type Read = Omit<Delivery, 'ingestKey'> & { failure?: Failure };
type Context = { now: Date; tier: string; generatesFingerprint: boolean };

/** Parses a payload by the presumed kind and mapping; throws for an invalid one. */
function alertsOf(
  payload: JsonObject,
  { kind, mapping }: Presumed,
  context: Context,
): readonly ParsedAlert[] {
  if (kind === 'metrics') {
    const alerts = parseMetrics(payload, context);
    if (!alerts) throw new Failure('unprocessable', '422 Unprocessable Entity');
    return alerts;
  }
  // Only mappings of validateMapping() are stored; in Free they are kept, but not used.
  const used = context.tier === 'free' ? undefined : ((mapping ?? undefined) as Mapping | undefined);
  return [parseGeneric(payload, { ...context, mapping: used })];
}

/** A metrics payload is parsed the same way for every integration (facts: Alerts). */
function readAlerts(payload: JsonObject | Failure, presumed: Presumed, context: Context): Read {
  const { kind } = presumed;
  if (payload instanceof Failure) return { kind, presumed: undefined, alerts: [], failure: payload };
  const isMetrics = isMetricsShape(payload);
  const read = isMetrics ? ({ kind: 'metrics', mapping: null } as const) : presumed;
  const rest = { kind: read.kind, presumed: isMetrics ? undefined : presumed };
  try {
    return { ...rest, alerts: alertsOf(payload, read, context) };
  } catch (error) {
    if (error instanceof Failure) return { ...rest, alerts: [], failure: error };
    throw error;
  }
}

/** Refuses in the order of public receivers: 404, invalid payloads, 403, 401 (facts: Alerts). */
function refuse({ verdict }: Receipt, failure: Failure | undefined): void {
  if (verdict === 'unknown') throw notFound('Project');
  if (failure) throw failure;
  if (verdict === 'inactive') throw forbidden();
  if (verdict === 'wrong_key') throw unauthenticated();
}

/** The project of a key as an actor of feature flags. */
async function projectAt({ database }: Needs<'database'>, ingestKey: IngestKey): Promise<string | undefined> {
  const { projectId } = await take(
    database,
    { ingestKey, presumed: undefined, alerts: [], kind: 'http' },
    false,
  );
  return projectId === null ? undefined : `Project:${projectId}`;
}

/** The integration may change while its payload is parsed. */
const ATTEMPTS = 4;

/** Bytes: a larger payload is parsed only after its key was checked, and not written with others. */
const LARGE_PAYLOAD_BYTES = 65_536;

function parsePayload(body: Buffer | Failure): JsonObject | Failure {
  if (body instanceof Failure) return body;
  try {
    return readPayload(body);
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

/**
 * Ingests a payload; throws why it cannot (`body` may be that failure). Returns the alerts that it inserted,
 * counted up or ended, which are committed. A generic recovery without an open alert is a 400, one of metrics
 * is not.
 */
export async function ingest(
  services: Needs<'config' | 'database' | 'features' | 'wake'>,
  ingestKey: IngestKey,
  body: Buffer | Failure,
): Promise<AlertResponse[]> {
  const { tier } = services.config;
  const groups = tier !== 'free';
  const generatesFingerprint =
    groups &&
    (await services.features.isOn('generic_alert_fingerprinting', () => projectAt(services, ingestKey)));
  const context = { now: now(), tier, generatesFingerprint };
  const isLarge = body instanceof Failure || body.length > LARGE_PAYLOAD_BYTES;
  if (isLarge) {
    const requested = { ingestKey, presumed: undefined, alerts: [], kind: 'http' } as const;
    refuse(await take(services.database, requested, groups), body instanceof Failure ? body : undefined);
  }
  const payload = parsePayload(body);
  let presumed: Presumed = { kind: ingestKey.readings.at(-1)?.kind ?? 'http', mapping: null };
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { failure, ...read } = readAlerts(payload, presumed, context);
    const receipt = await (isLarge ? takeLarge : take)(services.database, { ingestKey, ...read }, groups);
    if (receipt.verdict === 'again') {
      presumed = receipt.found;
      continue;
    }
    refuse(receipt, failure);
    if (receipt.news) services.wake();
    if (receipt.alerts.length === 0 && read.kind === 'http')
      throw badRequest('no open alert has the fingerprint of this recovery');
    return receipt.alerts;
  }
  throw new Failure('unavailable', '503 Service Unavailable', { headers: { 'retry-after': '1' } });
}
