/**
 * Reads a report as far as the collector must: whether it is one, which event it names, and what of it is an error. The
 * payload of an event is left to the digest. Pure.
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

/** How a body is to be read: as an envelope, or as one event. */
export type ReportForm = 'envelope' | 'store';

export type Arrived = {
  form: ReportForm;
  /** What the request says of its packing. */
  encoding: string | undefined;
  body: Uint8Array;
  /** Bytes that an event may have, unpacked. */
  largestEvent: number;
};

export type ReadReport = {
  /** 32 hexadecimal digits, where the report says it. */
  eventId: string | undefined;
  /** The address that an envelope names as its own. */
  dsn: string | undefined;
  /** How many errors are in it. */
  events: number;
  /** The types of what else was in it and is not kept with it. */
  others: readonly string[];
  packing: Packing;
  /** What is to be kept in the place of what came. */
  instead: Uint8Array<ArrayBuffer> | undefined;
};

/** It or an event in it is too large, it is no report, or nobody here can unpack it. */
export type Refused = 'too_large' | 'unreadable' | 'unknown_packing';

/** Bytes, from where it is worth it. */
const MIN_PACKED_BYTES = 1_024;
const MIN_OMITTED_BYTES = 16_384;
/** Clients put one into an envelope. */
const MAX_EVENTS = 100;

/**
 * What a report is, where its beginning says enough: an envelope that begins with an event, as clients send them, packed by
 * gzip and no larger than an event may be. Undefined where all of it must be looked into. It takes a tenth of the time;
 * what is not as it says it is, the digest finds out.
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

/** What a report is, or why it is refused. */
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

/** The first generation of clients: one event, and none of the others. */
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

/** The oldest of them send zlib in base64, and say so nowhere. */
function unwrap(body: Buffer): Uint8Array<ArrayBuffer> {
  const text = body.toString('latin1').trim();
  if (!/^[\w+/]+=*$/.test(text)) throw new EnvelopeFailure('neither an object nor base64');
  return new Uint8Array(Buffer.from(text, 'base64'));
}

function packed(packing: Packing, body: Buffer): { packing: Packing; instead: ReadReport['instead'] } {
  if (packing !== 'identity' || body.length <= MIN_PACKED_BYTES) return { packing, instead: undefined };
  return { packing: 'deflate', instead: pack(body) };
}
