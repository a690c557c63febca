/** From a payload to alerts: read by what the integration is, taken or refused in the words of the public receivers. */
import type { JsonObject, ParsedAlert } from '../../core/alerts/records.ts';
import type { Services } from '../../core/services.ts';
import { now } from '../../platform/clock.ts';
import { badRequest, Failure, forbidden, notFound, unauthenticated } from '../../platform/failure.ts';
import { parseGeneric } from './generic-payload.ts';
import {
  type Delivery,
  type IngestKey,
  type Presumed,
  type Receipt,
  take,
  takeLarge,
} from './ingest-delivery.ts';
import type { Mapping } from './mapping.ts';
import { isMetricsShape, parseMetrics } from './metrics-payload.ts';
import { readPayload } from './payload-size.ts';

/** What is answered of an alert (spec: Alert). */
export type AlertResponse = { iid: number; title: string };

type Read = Omit<Delivery, 'ingestKey'> & { failure?: Failure };
type Context = { now: Date; tier: string; generatesFingerprint: boolean };

/** The alerts of a payload, by what is presumed of the integration; throws what is wrong with it. */
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
  // Only what validateMapping() made is stored; below premium it is kept for later.
  const used = context.tier === 'free' ? undefined : ((mapping ?? undefined) as Mapping | undefined);
  return [parseGeneric(payload, { ...context, mapping: used })];
}

/** A metrics payload says the same to every integration, and what is no payload says nothing (facts: Alerts). */
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

/** In the order of the public receivers: 404, then what is wrong with the payload, then 403 and 401 (facts: Alerts). */
function refuse({ verdict }: Receipt, failure: Failure | undefined): void {
  if (verdict === 'unknown') throw notFound('Project');
  if (failure) throw failure;
  if (verdict === 'inactive') throw forbidden();
  if (verdict === 'wrong_key') throw unauthenticated();
}

/** The project behind a door, as a feature flag names its actors. */
async function projectAt({ database }: Services, ingestKey: IngestKey): Promise<string | undefined> {
  const { projectId } = await take(
    database,
    { ingestKey, presumed: undefined, alerts: [], kind: 'http' },
    false,
  );
  return projectId === null ? undefined : `Project:${projectId}`;
}

/** An integration may become another while its payload is read. */
const ATTEMPTS = 4;

/** In bytes: what is larger is only parsed for who has the key, and is not taken along with what others send. */
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
 * Takes a payload that came to a door, or says why it cannot be read (`body` may be what is wrong with it); the alerts that
 * it made, counted up or ended. They are stored when this returns. A generic recovery of nothing that is open is a 400, one
 * of metrics is fine.
 */
export async function ingest(
  services: Services,
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
