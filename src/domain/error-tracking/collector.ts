/**
 * Where applications report their errors: the addresses that clients of the Sentry protocol make of a DSN. What costs
 * little is decided first, and the answer comes when the report is durable.
 */
import type { Services } from '../../core/services.ts';
import { createStrangerLimit } from '../../core/stranger-limit.ts';
import { Failure } from '../../platform/failure.ts';
import { createMemoryShare, type MemoryReservation } from '../../platform/fair-share.ts';
import { eachPiece, joinPieces } from '../../platform/http/body-stream.ts';
import { type HttpRequest, type HttpResponse, json } from '../../platform/http/messages.ts';
import type { Route } from '../../platform/http/server.ts';
import { keyOfDsn, readClientKey } from './client-keys.ts';
import { createIngestKeys, type IngestKey } from './ingest-keys.ts';
import type { ItemCounts } from './item-counts.ts';
import { createEventLimit, MAX_REPORT_BYTES, refusal, tooLarge } from './limits.ts';
import { createReader } from './reader.ts';
import { glanceAt, type ReportForm } from './report.ts';
import type { Spool } from './spool.ts';

export type Collector = {
  routes: readonly Route[];
  /** When no report comes any more. */
  stop(): Promise<void>;
};

/** Reports that are being received. */
const memory = createMemoryShare({
  bytes: 6 * MAX_REPORT_BYTES,
  perCaller: 3 * MAX_REPORT_BYTES,
  free: 65_536,
});

/** What a browser lets its page read beside the body. */
const exposed = 'Retry-After, X-Request-Id, X-Sentry-Error, X-Sentry-Rate-Limits';

/** Nobody learns whether it is the project, the setting or the key. */
const unknown = (): Failure => refusal('not_found', '404 Not Found', 'unknown project or client key');

/** The routes that take reports, and what they measure. */
export function createCollector(services: Services, spool: Spool, items: ItemCounts): Collector {
  const limit = createEventLimit(services.limiter);
  const reader = createReader();
  const ingestKeys = createIngestKeys(services.database.points);
  const strangers = createStrangerLimit(services.limiter, 'error_strangers');

  /** The project of a key, where it may report; 404 where it may not, 429 where it has reported too much. */
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
    if (settings.maintenance_mode)
      throw refusal('unavailable', '503 Service Unavailable: maintenance', 'maintenance');
    services.disk.refuseWrites();
    const { id: project = '' } = request.params;
    const { key, isGiven } = readClientKey(request);
    const known = isGiven ? await enter(key, project) : undefined;
    const body = await receive(request, reservation);
    const encoding = request.headers['content-encoding']?.toString();
    const arrived = { form, encoding, body, largestEvent: settings.error_tracking_max_event_bytes };
    // Where events are counted, all of them are looked for.
    const isCounted = settings.error_tracking_events_per_minute > 0;
    const report = (isCounted ? undefined : glanceAt(arrived)) ?? (await reader.read(arrived));
    // Whoever could give neither header nor query has it in the report.
    const door = known ?? (await enter(keyOfDsn(report.dsn ?? ''), project));
    items.add(report.others);
    const { eventId, events, packing } = report;
    if (events > 0) {
      await limit.take(door.project_id, events, settings);
      const stored = await spool.store({
        key: door.key,
        form,
        packing,
        body: report.instead ?? body,
        address: request.address,
      });
      if (!stored) {
        ingestKeys.forget(door.key);
        throw unknown();
      }
    } else if (!(await ingestKeys.select(door.key))) throw unknown();
    return json(200, eventId === undefined ? {} : { id: eventId });
  }

  const route = (form: ReportForm): Route => ({
    method: 'POST',
    path: `/api/v4/error_tracking/collector/api/:id/${form}`,
    // The body comes when the door is open.
    stream: true,
    async handle(request) {
      if (request.headers.origin !== undefined)
        request.replyHeaders['access-control-expose-headers'] = exposed;
      const reservation = memory.open();
      try {
        strangers.refuse(request.address);
        return await collect(form, request, reservation);
      } catch (error) {
        if (error instanceof Failure && error.kind === 'not_found') await strangers.count(request.address);
        throw error;
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

/** The body as it came; 413 as soon as it is known to be too large. */
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
