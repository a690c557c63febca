/** Receivers of alerts, below a project's path and outside the API. */

import { admit, isThrottled, throttle } from '../../../kernel/api/gate.ts';
import { createStrangerLimit, type StrangerLimit } from '../../../kernel/api/stranger-limit.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { Failure } from '../../../platform/failure.ts';
import { reserveBody } from '../../../platform/http/bodies/body.ts';
import { eachPiece, joinPieces } from '../../../platform/http/bodies/body-stream.ts';
import { type HttpRequest, type HttpResponse, json } from '../../../platform/http/messages.ts';
import type { Route } from '../../../platform/http/server/server.ts';
import { digest } from '../../../platform/secret.ts';
import { PayloadMeter } from '../payloads/size.ts';
import { type IngestKey, take } from './delivery.ts';
import { ingest } from './ingest.ts';
import { readingsOf } from './receiver-addresses.ts';

/**
 * Routes of receivers, with and without the public suffix. The `metrics` or `prometheus` of metrics
 * integrations is part of `:path`, since a project may have such a name too.
 */
export function receiverRoutes(
  services: Needs<'config' | 'database' | 'settings' | 'features' | 'limiter' | 'disk' | 'wake'>,
): Route[] {
  const strangers = createStrangerLimit(services.limiter, 'alert_strangers');
  return [
    '/:path+/alerts/notify.json',
    '/:path+/alerts/notify',
    // The name is only for readers of the address.
    '/:path+/alerts/notify/:name/:identifier',
  ].map((path) => ({
    kind: 'ingest',
    method: 'POST',
    path,
    sharesPath: true,
    handle: (request) => receiveKnown(services, strangers, request),
  }));
}

/** Failures for unknown keys or addresses. */
const STRANGE: readonly Failure['kind'][] = ['unauthenticated', 'forbidden', 'not_found'];

async function receiveKnown(
  services: Needs<'config' | 'database' | 'settings' | 'features' | 'limiter' | 'disk' | 'wake'>,
  strangers: StrangerLimit,
  request: HttpRequest,
): Promise<HttpResponse> {
  strangers.refuse(request.address);
  try {
    return await receive(services, request);
  } catch (error) {
    if (error instanceof Failure && STRANGE.includes(error.kind)) await strangers.count(request.address);
    throw error;
  }
}

async function receive(
  services: Needs<'config' | 'database' | 'settings' | 'features' | 'limiter' | 'disk' | 'wake'>,
  request: HttpRequest,
): Promise<HttpResponse> {
  const settings = await services.settings.read();
  const refused = await admit(services, request, settings, { kind: 'ingest', writes: true });
  if (refused) return refused;
  await reserveBody(request);
  const body = await readMetered(request);
  const ingestKey = readIngestKey(request);
  const limited = await refuseOften(services, settings, request, ingestKey);
  return limited ?? json(200, await ingest(services, ingestKey, body));
}

function readIngestKey({ params, headers }: HttpRequest): IngestKey {
  const identifier = params.identifier?.replace(/\.json$/, '');
  const key = keyOf(headers.authorization);
  const readings = readingsOf(params.path ?? '');
  return {
    // Metrics integrations have no identifier in their address.
    readings: identifier === undefined ? readings : readings.filter(({ kind }) => kind === 'http'),
    identifier: identifier?.includes('\0') ? '' : identifier,
    keyDigest: key === undefined ? undefined : digest(key),
  };
}

/** A bearer token, or the password of basic credentials with any user name (spec: Alert integrations). */
function keyOf(header: string | string[] | undefined): string | undefined {
  const [, scheme = '', value = ''] = /^(Bearer|Basic) +(\S+) *$/i.exec(String(header ?? '')) ?? [];
  if (scheme.toLowerCase() !== 'basic') return value || undefined;
  const credentials = Buffer.from(value, 'base64').toString();
  const colon = credentials.indexOf(':');
  return colon < 0 ? undefined : credentials.slice(colon + 1);
}

/**
 * The body, or the failure that its bytes show; it is not parsed before the key is checked. The rest of a bad
 * body is read and dropped, so that the client reads the response.
 */
async function readMetered({ bodyStream }: HttpRequest): Promise<Buffer | Failure> {
  const pieces: Buffer[] = [];
  const meter = new PayloadMeter();
  let failure: Failure | undefined;
  await eachPiece(bodyStream, (piece) => {
    failure ??= meter.push(piece);
    if (failure) pieces.length = 0;
    else pieces.push(piece);
  });
  return failure ?? joinPieces(pieces);
}

/** 429 beyond a project's limit of a period, which only requests with a valid key use up (facts: Alerts). */
async function refuseOften(
  services: Needs<'database' | 'limiter'>,
  settings: ApplicationSettings,
  request: HttpRequest,
  ingestKey: IngestKey,
): Promise<HttpResponse | undefined> {
  const name = 'throttle_incident_management_notification';
  if (!isThrottled(settings, name)) return undefined;
  const requested = { ingestKey, presumed: undefined, alerts: [], kind: 'http' } as const;
  const { verdict, projectId } = await take(services.database, requested, false);
  if (verdict !== 'open') return undefined;
  return throttle(services, request, settings, name, projectId ?? 0);
}
