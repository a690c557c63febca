/**
 * The routes for error reports, at the addresses that Sentry clients derive from a DSN. The cheap checks come
 * first; the response is sent when the report is durable.
 */

import { admit } from '../../../kernel/api/gate.ts';
import { createStrangerLimit } from '../../../kernel/api/stranger-limit.ts';
import type { Needs } from '../../../kernel/services.ts';
import { Failure } from '../../../platform/failure.ts';
import { createMemoryShare, type MemoryReservation } from '../../../platform/fair-share.ts';
import { eachPiece, joinPieces } from '../../../platform/http/bodies/body-stream.ts';
import { type HttpRequest, type HttpResponse, json } from '../../../platform/http/messages.ts';
import type { Route } from '../../../platform/http/server/server.ts';
import { createEventLimit, MAX_REPORT_BYTES, refusal, tooLarge, withReason } from '../reports/limits.ts';
import { createReader } from '../reports/reader.ts';
import { glanceAt, type ReportForm } from '../reports/report.ts';
import { keyOfDsn, readClientKey } from '../settings/client-keys.ts';
import { createIngestKeys } from './ingest-keys.ts';
import type { ItemCounts } from './item-counts.ts';
import type { IngestKey } from './queries.ts';
import type { Spool } from './spool.ts';

export type Collector = {
  routes: readonly Route[];
  /** Call it when no report comes any more. */
  stop(): Promise<void>;
};

/** Memory of the reports that are being received. */
const memory = createMemoryShare({
  bytes: 6 * MAX_REPORT_BYTES,
  perCaller: 3 * MAX_REPORT_BYTES,
  free: 65_536,
});

/** Headers that a browser lets a page read. */
const exposed = 'Retry-After, X-Request-Id, X-Sentry-Error, X-Sentry-Rate-Limits';

/** One response for an unknown project, setting and key, so that it does not reveal which of them failed. */
const unknown = (): Failure => refusal('not_found', '404 Not Found', 'unknown project or client key');

export function createCollector(
  services: Needs<'database' | 'settings' | 'limiter' | 'disk'>,
  spool: Spool,
  items: ItemCounts,
): Collector {
  const limit = createEventLimit(services.limiter);
  const reader = createReader();
  const ingestKeys = createIngestKeys(services.database.points);
  const strangers = createStrangerLimit(services.limiter, 'error_strangers');

  /**
   * The project of a key; 404 where the key is unknown or of another project, 429 beyond the project's limit.
   */
  async function enter(key: string | undefined, project: string): Promise<IngestKey & { key: string }> {
    if (key === undefined) throw unknown();
    const ingestKey = await ingestKeys.find(key);
    if (String(ingestKey?.project_id) !== project || !ingestKey) throw unknown();
    limit.refuse(ingestKey.project_id);
    return { ...ingestKey, key };
  }

  async function collect(
    form: ReportForm,
    request: HttpRequest,
    reservation: MemoryReservation,
  ): Promise<HttpResponse> {
    const reading = services.settings.read();
    const settings = reading instanceof Promise ? await reading : reading;
    const admitting = admit(services, request, settings, { kind: 'ingest', writes: true });
    const refused = admitting instanceof Promise ? await admitting : admitting;
    if (refused) return refused;
    const { id: project = '' } = request.params;
    const { key, isGiven } = readClientKey(request);
    const known = isGiven ? await enter(key, project) : undefined;
    const body = await receive(request, reservation);
    const encoding = request.headers['content-encoding']?.toString();
    const arrived = { form, encoding, body, largestEvent: settings.error_tracking_max_event_bytes };
    // A limit on events needs their exact number, so the report is read as a whole.
    const isCounted = settings.error_tracking_events_per_minute > 0;
    const report = (isCounted ? undefined : glanceAt(arrived)) ?? (await reader.read(arrived));
    // Clients that can set neither header nor query name the key in the report.
    const ingestKey = known ?? (await enter(keyOfDsn(report.dsn ?? ''), project));
    items.add(report.others);
    const { eventId, events, packing } = report;
    if (events > 0) {
      await limit.take(ingestKey.project_id, events, settings);
      const stored = await spool.store({
        key: ingestKey.key,
        form,
        packing,
        body: report.instead ?? body,
        address: request.address,
      });
      if (!stored) {
        ingestKeys.forget(ingestKey.key);
        throw unknown();
      }
    } else if (!(await ingestKeys.select(ingestKey.key))) throw unknown();
    return json(200, eventId === undefined ? {} : { id: eventId });
  }

  const route = (form: ReportForm): Route => ({
    kind: 'ingest',
    method: 'POST',
    path: `/api/v4/error_tracking/collector/api/:id/${form}`,
    crossOrigin: 'any',
    async handle(request) {
      if (request.headers.origin !== undefined)
        request.replyHeaders['access-control-expose-headers'] = exposed;
      const reservation = memory.open();
      try {
        strangers.refuse(request.address);
        return await collect(form, request, reservation);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        if (error.kind === 'not_found') await strangers.count(request.address);
        throw withReason(error);
      } finally {
        reservation.release();
      }
    },
  });

  return {
    routes: [route('envelope'), route('store')],
    stop: reader.stop,
  };
}

/** The body as received; 413 as soon as it is known to be too large. */
async function receive(
  { headers, bodyStream }: HttpRequest,
  reservation: MemoryReservation,
): Promise<Buffer> {
  if (Number(headers['content-length'] ?? 0) > MAX_REPORT_BYTES) throw tooLarge();
  const pieces: Buffer[] = [];
  let length = 0;
  const take = (piece: Buffer): void => {
    length += piece.length;
    if (length > MAX_REPORT_BYTES) throw tooLarge();
    reservation.take(piece.length);
    pieces.push(piece);
  };
  await eachPiece(bodyStream, take, () => refusal('bad_request', '400 Bad request', 'cut off'));
  return joinPieces(pieces);
}
