/** Digests a report into events. It runs in the digest's process, and does not use the database. */
import { digest } from '../../../platform/secret.ts';
import { fingerprintOf, type Title, titleOf } from '../events/grouping.ts';
import { type Arrival, outlineEvent } from '../events/normalise.ts';
import { type NormalEvent, packEvent } from '../events/shape.ts';
import { readEnvelope, readObject } from '../reports/envelope.ts';
import { MAX_REPORT_BYTES } from '../reports/limits.ts';
import { type Packing, unpack } from '../reports/packing.ts';
import type { Allowance } from './allowance.ts';

/** A report of the spool, and the setting of its project. */
export type ReportRow = {
  project_id: number;
  form: string;
  encoding: Packing;
  body: Uint8Array;
  address: string | null;
  received_at: Date;
  keep_addresses: boolean;
};

/** A digested event. */
export type DigestedEvent = Title & {
  /** 32 hexadecimal digits. */
  event_id: string;
  /** Hexadecimal. */
  fingerprint: string;
  platform: string;
  level: string;
  environment: string | null;
  release: string | null;
  occurred_at: Date;
  /** Whether its payload is an outline. */
  abridged: boolean;
  /** The packed event. */
  payload: Uint8Array;
  /** A hash that names the user of the event, in hexadecimal; null without one. */
  person: string | null;
  tags: readonly (readonly [key: string, value: string])[];
};

/** The events of a report, the number of unreadable ones, and the types of its other items. */
export type Digested = { events: readonly DigestedEvent[]; unreadable: number; others: readonly string[] };

/**
 * Bytes of an unpacked event. Parsing JSON can take sixty times as much memory; beyond its limit the process
 * ends.
 */
const MAX_EVENT_BYTES = 4 * 1_048_576;
/** Characters of an event that are kept, and of one that packs badly. */
const EVENT_BUDGET_LENGTH = 524_288;
const SMALL_EVENT_BUDGET_LENGTH = 65_536;
/** Bytes of a packed event; and of a report's packed events, after which each gets the small budget. */
const MAX_PAYLOAD_BYTES = 262_144;
const MAX_TOTAL_PAYLOAD_BYTES = 2_097_152;
/** Tags of an event that its error counts. */
const MAX_TAGS = 50;
const MAX_TAG_LENGTH = 200;

/**
 * Hashes the first of these that is known: users change names and share addresses. Without the key a reader
 * of the hash could try out candidates.
 */
function personOf({ user }: NormalEvent, projectId: number, key: string): string | null {
  for (const name of ['id', 'email', 'username', 'ip_address'] as const) {
    const value = user?.[name];
    if (value != null) return digest(`${key} ${projectId} ${name} ${value}`).toString('hex');
  }
  return null;
}

/** The tags of the client, and those that every event has. */
function tagsOf(event: NormalEvent): [string, string][] {
  const { level, environment, release, server_name, transaction, logger, contexts } = event;
  const tags = new Map<string, string>(event.tags);
  const versioned = ['browser', 'os', 'runtime', 'device'].map((name) => {
    const context = contexts[name];
    return [
      name,
      typeof context === 'object' && context !== null && 'name' in context ? versionedName(context) : null,
    ];
  });
  const own = {
    level,
    environment,
    release,
    server_name,
    transaction,
    logger,
    ...Object.fromEntries(versioned),
  };
  for (const [name, value] of Object.entries(own)) {
    if (typeof value === 'string' && value !== '' && !tags.has(name))
      tags.set(name, value.slice(0, MAX_TAG_LENGTH).toWellFormed());
  }
  return [...tags].slice(0, MAX_TAGS);
}

const versionedName = ({
  name,
  version,
}: {
  readonly name?: unknown;
  readonly version?: unknown;
}): string | null =>
  typeof name !== 'string' ? null : typeof version === 'string' ? `${name} ${version}` : name;

type Situation = { personKey: string; mayBeWhole: Allowance };

function digestEvent(
  raw: Record<string, unknown>,
  arrival: Arrival,
  { project_id }: ReportRow,
  { personKey, mayBeWhole }: Situation,
  room: number,
): DigestedEvent {
  const { outline, complete } = outlineEvent(raw, arrival, room);
  const fingerprint = fingerprintOf(outline).toString('hex');
  const isWhole = mayBeWhole(`${project_id} ${fingerprint}`);
  const packed = packEvent(isWhole ? complete() : outline);
  const { event_id, timestamp, platform, level, environment, release } = outline;
  const little = (): Buffer => {
    const less = outlineEvent(raw, { ...arrival, eventId: event_id }, SMALL_EVENT_BUDGET_LENGTH);
    return packEvent(isWhole ? less.complete() : less.outline);
  };
  return {
    ...titleOf(outline),
    event_id,
    fingerprint,
    platform,
    level,
    environment,
    release,
    occurred_at: new Date(timestamp),
    abridged: !isWhole,
    payload: packed.length > MAX_PAYLOAD_BYTES ? little() : packed,
    person: personOf(outline, project_id, personKey),
    tags: tagsOf(outline),
  };
}

/**
 * Unpacks, reads, scrubs and groups a report; an unreadable event is counted and does not affect the others.
 */
export function digestReport(report: ReportRow, situation: Situation): Digested {
  const { form, encoding, address, received_at, keep_addresses } = report;
  const events: DigestedEvent[] = [];
  const others: string[] = [];
  let unreadable = 0;
  let kept = 0;
  const take = (payload: Buffer, eventId?: string): void => {
    // Invalid UTF-8 becomes replacement characters.
    const raw = payload.length > MAX_EVENT_BYTES ? undefined : readObject(payload.toString('utf8'));
    const arrival = { receivedAt: received_at, keepAddresses: keep_addresses, address, eventId };
    if (!raw) {
      unreadable += 1;
      return;
    }
    // A hundred similar events pack well as one body, but each is packed alone here.
    const room = kept < MAX_TOTAL_PAYLOAD_BYTES ? EVENT_BUDGET_LENGTH : SMALL_EVENT_BUDGET_LENGTH;
    const event = digestEvent(raw, arrival, report, situation, room);
    kept += event.payload.length;
    events.push(event);
  };
  try {
    const body = unpack(
      encoding,
      Buffer.from(report.body.buffer, report.body.byteOffset, report.body.length),
      MAX_REPORT_BYTES,
    );
    if (form === 'store') take(body);
    else {
      const envelope = readEnvelope(body);
      const reported = envelope.items.filter(({ type }) => type === 'event');
      others.push(...envelope.items.filter(({ type }) => type !== 'event').map(({ type }) => type));
      // The envelope's id is the id of its only event; several events have their own.
      for (const { payload } of reported) take(payload, reported.length === 1 ? envelope.eventId : undefined);
    }
  } catch {
    unreadable += 1;
  }
  return { events, unreadable, others };
}
