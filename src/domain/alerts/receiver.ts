/** Where monitoring tools send their alerts: addresses below a project's path, outside the API. */
import type { JsonObject } from '../../core/alerts/records.ts';
import type { Services } from '../../core/services.ts';
import type { ApplicationSettings } from '../../core/settings/definitions.ts';
import { Failure } from '../../platform/failure.ts';
import { type Answer, type HttpRequest, json } from '../../platform/http/answer.ts';
import { rateLimitHeaders } from '../../platform/http/rate-limit.ts';
import type { Route } from '../../platform/http/server.ts';
import { digest } from '../../platform/secret.ts';
import { ingest } from './ingest.ts';
import { type Door, take } from './ingest-delivery.ts';
import { readPayload } from './payload-size.ts';
import { readingsOf } from './receiver-places.ts';

/**
 * The routes to which alerts are posted, with the public suffix or without. Metrics integrations have theirs below
 * `metrics` or `prometheus`, which are parts of `:path` here: a project may have such a name too.
 */
export const receiverRoutes = (services: Services): Route[] =>
  [
    '/:path+/alerts/notify.json',
    '/:path+/alerts/notify',
    // The name is for people to read.
    '/:path+/alerts/notify/:name/:identifier',
  ].map((path) => ({
    method: 'POST',
    path,
    stream: true,
    sharesPath: true,
    handle: (request) => receive(services, request),
  }));

async function receive(services: Services, request: HttpRequest): Promise<Answer> {
  const body = await readAtMost(request, MOST_READ);
  const settings = await services.settings.read();
  if (settings.maintenance_mode)
    throw new Failure(
      'unavailable',
      settings.maintenance_mode_message || '503 Service Unavailable: maintenance',
    );
  services.disk.refuseWrites();
  const door = doorOf(request);
  const limited = await refuseOften(services, settings, request, door);
  return limited ?? json(200, await ingest(services, door, payloadOf(body), body.length));
}

function payloadOf(body: Buffer): JsonObject | Failure {
  try {
    return readPayload(body);
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

function doorOf({ params, headers }: HttpRequest): Door {
  const identifier = params.identifier?.replace(/\.json$/, '');
  const key = keyOf(headers.authorization);
  const readings = readingsOf(params.path ?? '');
  return {
    // The address of a metrics integration names none.
    readings: identifier === undefined ? readings : readings.filter(({ kind }) => kind === 'http'),
    identifier: identifier?.includes('\0') ? '' : identifier,
    keyDigest: key === undefined ? undefined : digest(key),
  };
}

/** A bearer token, or the password of basic credentials, whoever they name (spec: Alert integrations). */
function keyOf(header: string | string[] | undefined): string | undefined {
  const [, scheme = '', value = ''] = /^(Bearer|Basic) +(\S+) *$/i.exec(String(header ?? '')) ?? [];
  if (scheme.toLowerCase() !== 'basic') return value || undefined;
  const credentials = Buffer.from(value, 'base64').toString();
  const colon = credentials.indexOf(':');
  return colon < 0 ? undefined : credentials.slice(colon + 1);
}

/** One byte more than a payload may have: enough to tell that there are too many. */
const MOST_READ = 1_048_577;

/** The body as far as that; what follows is thrown away, so that the client reads its answer. */
function readAtMost({ bodyStream }: HttpRequest, most: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const finish = (): void => resolve(Buffer.concat(chunks, Math.min(length, most)));
    const hangUp = (): void => {
      if (!bodyStream.readableEnded) reject(new Failure('bad_request', '400 Bad request'));
    };
    bodyStream
      .on('data', (chunk: Buffer) => {
        if (length >= most) return;
        chunks.push(chunk);
        length += chunk.length;
        if (length >= most) finish();
      })
      .once('end', finish)
      .once('error', hangUp)
      .once('close', hangUp);
  });
}

/** 429 beyond what a project may be sent in a period by who has a key of it (facts: Alerts); nobody else uses that up. */
async function refuseOften(
  services: Services,
  settings: ApplicationSettings,
  request: HttpRequest,
  door: Door,
): Promise<Answer | undefined> {
  const name = 'throttle_incident_management_notification';
  const limit = settings.throttle_incident_management_notification_per_period;
  const periodSeconds = settings.throttle_incident_management_notification_period_in_seconds;
  if (!settings.throttle_incident_management_notification_enabled || limit === 0 || periodSeconds === 0)
    return undefined;
  const asked = { door, presumed: undefined, alerts: [], kind: 'http' } as const;
  const { verdict, projectId } = await take(services.database, asked, false);
  if (verdict !== 'open') return undefined;
  const taken = await services.limiter.take(`${name}:${projectId}`, { limit, periodSeconds });
  Object.assign(request.replyHeaders, rateLimitHeaders(taken, name, periodSeconds));
  if (taken.allowed) return undefined;
  const headers = { 'content-type': 'text/plain; charset=utf-8' };
  const body = `${settings.rate_limiting_response_text || 'Retry later'}\n`;
  return { status: 429, headers, body, failure: 'too_many_requests' };
}
