/**
 * Reads a report as far as the collector must: whether it is one, its event id, and which items are errors.
 * Payloads of events are left to the digest. Pure.
 */
import {
  EnvelopeFailure,
  type EnvelopeItem,
  looksLikeObject,
  readBeginning,
  readEnvelope,
  readEventId,
  readObject,
  writeEnvelope,
} from './envelope.ts';
import { MAX_REPORT_BYTES } from './limits.ts';
import { type Packing, pack, packingOf, peek, UnpackFailure, unpack } from './packing.ts';

/** The form of a body: an envelope, or one event. */
export type ReportForm = 'envelope' | 'store';

export type Arrived = {
  form: ReportForm;
  /** The `Content-Encoding` of the request. */
  encoding: string | undefined;
  body: Uint8Array;
  /** Bytes that an event may have, unpacked. */
  largestEvent: number;
};

export type ReadReport = {
  /** 32 hexadecimal digits, where the report has it. */
  eventId: string | undefined;
  /** The DSN that the envelope names. */
  dsn: string | undefined;
  /** The number of errors. */
  events: number;
  /** The types of the items that are dropped here. */
  others: readonly string[];
  packing: Packing;
  /** The body to store instead of the received one. */
  instead: Uint8Array<ArrayBuffer> | undefined;
};

/** The report or an event is too large, it is no report, or its packing is unknown. */
export type Refused = 'too_large' | 'unreadable' | 'unknown_packing';

/** Bytes from which packing, or dropping other items, is worth the time. */
const MIN_PACKED_BYTES = 1_024;
const MIN_OMITTED_BYTES = 16_384;
/** Clients put one event into an envelope. */
const MAX_EVENTS = 100;

/**
 * Reads the beginning of a gzip envelope that starts with an event of permitted size, as clients send them;
 * undefined where the whole report must be read. It takes a tenth of the time; the digest finds false
 * declarations.
 */
export function glanceAt({ form, encoding, body: bytes, largestEvent }: Arrived): ReadReport | undefined {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (form !== 'envelope' || packingOf(encoding, body) !== 'gzip') return undefined;
  const looked = peek(body);
  const said = looked && looked.size <= largestEvent ? readBeginning(looked.beginning) : undefined;
  if (said?.type !== 'event' || said.eventId === undefined) return undefined;
  if (typeof said.length === 'number' && said.length > largestEvent) return undefined;
  const { eventId, dsn } = said;
  return { eventId, dsn, events: 1, others: [], packing: 'gzip', instead: undefined };
}

/** The report, or the reason for a refusal. */
export function readReport({ form, encoding, body: bytes, largestEvent }: Arrived): ReadReport | Refused {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const packing = packingOf(encoding, body);
  if (packing === undefined) return 'unknown_packing';
  try {
    return (form === 'store' ? readStore : readEvents)(packing, body, largestEvent);
  } catch (error) {
    if (error instanceof UnpackFailure && error.reason === 'too_large') return 'too_large';
    if (error instanceof UnpackFailure || error instanceof EnvelopeFailure) return 'unreadable';
    throw error;
  }
}

function readEvents(packing: Packing, body: Buffer, largestEvent: number): ReadReport | Refused {
  const unpacked = unpack(packing, body, MAX_REPORT_BYTES);
  const envelope = readEnvelope(unpacked);
  const events = envelope.items.filter(({ type }) => type === 'event');
  const others = envelope.items.filter(({ type }) => type !== 'event');
  if (events.length > MAX_EVENTS || events.some(({ payload }) => payload.length > largestEvent))
    return 'too_large';
  if (!events.every(({ payload }) => looksLikeObject(payload))) return 'unreadable';
  const { eventId, dsn } = envelope;
  const read = { eventId, dsn, events: events.length, others: others.map(({ type }) => type) };
  if (events.length === 0) return { ...read, packing, instead: undefined };
  if (sizeOf(others) > MIN_OMITTED_BYTES)
    return { ...read, ...packed('identity', writeEnvelope(envelope, events)) };
  return { ...read, others: [], ...packed(packing, body) };
}

const sizeOf = (items: readonly EnvelopeItem[]): number =>
  items.reduce((sum, { payload }) => sum + payload.length, 0);

/** The form of the first generation of clients: one event, without other items. */
function readStore(packing: Packing, body: Buffer, largestEvent: number): ReadReport | Refused {
  const sent = unpack(packing, body, largestEvent);
  const wrapped = looksLikeObject(sent) ? undefined : unwrap(sent);
  const unpacked = wrapped ? unpack('deflate', Buffer.from(wrapped.buffer), largestEvent) : sent;
  const event = readObject(unpacked.toString());
  if (!event) return 'unreadable';
  const isError = event.type !== 'transaction';
  return {
    eventId: readEventId(event.event_id),
    dsn: undefined,
    events: isError ? 1 : 0,
    others: isError ? [] : ['transaction'],
    ...(wrapped ? { packing: 'deflate', instead: wrapped } : packed(packing, body)),
  };
}

/** The oldest clients send zlib in base64 without declaring it. */
function unwrap(body: Buffer): Uint8Array<ArrayBuffer> {
  const text = body.toString('latin1').trim();
  if (!/^[\w+/]+=*$/.test(text)) throw new EnvelopeFailure('neither an object nor base64');
  return new Uint8Array(Buffer.from(text, 'base64'));
}

function packed(packing: Packing, body: Buffer): { packing: Packing; instead: ReadReport['instead'] } {
  if (packing !== 'identity' || body.length <= MIN_PACKED_BYTES) return { packing, instead: undefined };
  return { packing: 'deflate', instead: pack(body) };
}
