/**
 * Envelopes of the Sentry protocol: a line of headers, then items, each a line of headers and a payload that ends where
 * its headers say or at the end of the line. Payloads are not looked into. Pure; the digest's process reads them too.
 */

export type EnvelopeItem = { type: string; payload: Buffer };

export type Envelope = {
  /** 32 hexadecimal digits, where the headers name an event. */
  eventId: string | undefined;
  /** By the clock of the client, as sent. */
  sentAt: string | undefined;
  /** The DSN, key included, for clients that cannot set headers. */
  dsn: string | undefined;
  items: readonly EnvelopeItem[];
};

/** The body is no envelope. */
export class EnvelopeFailure extends Error {}

const NEWLINE = 0x0a;
/** No client sends so many items, nor so long headers. */
const MAX_ITEMS = 1_000;
const MAX_HEADERS_LENGTH = 65_536;

/** Reads a body that is unpacked; throws an EnvelopeFailure. The payloads are parts of the body. */
export function readEnvelope(body: Buffer): Envelope {
  const head = lineAt(body, 0);
  const headers = readHeaders(body, 0, head);
  const items: EnvelopeItem[] = [];
  let at = head + 1;
  while (at < body.length) {
    if (body[at] === NEWLINE) {
      at += 1;
      continue;
    }
    if (items.length === MAX_ITEMS) throw new EnvelopeFailure('too many items');
    const line = lineAt(body, at);
    const { type, length } = readHeaders(body, at, line);
    if (typeof type !== 'string') throw new EnvelopeFailure('an item without a type');
    const start = Math.min(line + 1, body.length);
    const end = endOf(body, start, length);
    items.push({ type, payload: body.subarray(start, end) });
    at = end + 1;
  }
  return {
    eventId: readEventId(headers.event_id),
    sentAt: textOf(headers.sent_at),
    dsn: textOf(headers.dsn),
    items,
  };
}

/** Reads the headers of the envelope and its first item; undefined where the beginning ends before them. */
export function readBeginning(
  beginning: Buffer,
): { eventId: string | undefined; dsn: string | undefined; type: unknown; length: unknown } | undefined {
  const head = beginning.indexOf(NEWLINE);
  const line = beginning.indexOf(NEWLINE, head + 1);
  if (head < 0 || line < 0) return undefined;
  const headers = readObject(beginning.toString('utf8', 0, head));
  const item = readObject(beginning.toString('utf8', head + 1, line));
  if (!headers || !item) return undefined;
  const { type, length } = item;
  return { eventId: readEventId(headers.event_id), dsn: textOf(headers.dsn), type, length };
}

function endOf(body: Buffer, start: number, length: unknown): number {
  if (length === undefined || length === null) return lineAt(body, start);
  if (typeof length !== 'number' || !Number.isSafeInteger(length) || length < 0)
    throw new EnvelopeFailure('a length that is none');
  const end = start + length;
  if (end > body.length) throw new EnvelopeFailure('an item that is cut off');
  if (end < body.length && body[end] !== NEWLINE) throw new EnvelopeFailure('an item of another length');
  return end;
}

/** The index of the end of the line that begins at `start`. */
function lineAt(body: Buffer, start: number): number {
  const end = body.indexOf(NEWLINE, start);
  return end < 0 ? body.length : end;
}

function readHeaders(body: Buffer, start: number, end: number): Record<string, unknown> {
  if (end - start > MAX_HEADERS_LENGTH) throw new EnvelopeFailure('headers that are too long');
  const headers = readObject(body.toString('utf8', start, end));
  if (!headers) throw new EnvelopeFailure('headers that are no object');
  return headers;
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** An object from its JSON; undefined for anything else. */
export function readObject(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** The id of an event as 32 hexadecimal digits; clients write it with dashes too. */
export function readEventId(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const digits = value.replaceAll('-', '').toLowerCase();
  return /^[0-9a-f]{32}$/.test(digits) ? digits : undefined;
}

/** Whether a payload may be a JSON object, by its first and last byte; only the digest parses it. */
export function looksLikeObject(payload: Buffer): boolean {
  const isBlank = (byte: number | undefined) =>
    byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
  let start = 0;
  let end = payload.length - 1;
  while (isBlank(payload[start])) start += 1;
  while (end > start && isBlank(payload[end])) end -= 1;
  return payload[start] === 0x7b && payload[end] === 0x7d;
}

/** The envelope with these items alone. */
export function writeEnvelope(
  { eventId, sentAt }: Pick<Envelope, 'eventId' | 'sentAt'>,
  items: readonly EnvelopeItem[],
): Buffer {
  const parts = items.flatMap(({ type, payload }) => [
    Buffer.from(`\n${JSON.stringify({ type, length: payload.length })}\n`),
    payload,
  ]);
  return Buffer.concat([Buffer.from(JSON.stringify({ event_id: eventId, sent_at: sentAt })), ...parts]);
}
