/** Events of all generations of clients in one shape: scrubbed and bounded. */
import { randomHex } from '../../../platform/secret.ts';
import { type Cleaner, createCleaner, isRecord } from './cleaner.ts';
import { type BareFrame, readStack, type Stack, surround } from './frames.ts';
import {
  type Breadcrumb,
  type EventRequest,
  type EventUser,
  type Json,
  type JsonObject,
  type Level,
  levels,
  type NormalEvent,
  REMOVED,
  type ThrownValue,
} from './shape.ts';

const MAX_EXCEPTIONS = 20;
const MAX_BREADCRUMBS = 100;
const MAX_TAGS = 100;
const MAX_HEADERS = 100;
const MAX_MODULES = 500;
const MAX_OF_USER = 100;
const MAX_FINGERPRINT_PARTS = 20;
const MAX_WORD_LENGTH = 200;
const MAX_PART_LENGTH = 1_000;
/** Milliseconds that a client's clock may be ahead. */
const MAX_AHEAD_MS = 60_000;
/** Milliseconds; an older event gets the time of its arrival. */
const MAX_BEHIND_MS = 30 * 86_400_000;

/** The circumstances of an event that are not part of it. */
export type Arrival = {
  receivedAt: Date;
  keepAddresses: boolean;
  /** The address of the client, where it is known. */
  address: string | null;
  /** The id in the envelope, for an event without its own. */
  eventId?: string | undefined;
};

type Raw = Record<string, unknown>;

/** The first value under these names: interfaces were renamed in the course of time. */
const field = (raw: Raw, ...names: readonly string[]): unknown =>
  names.map((name) => raw[name]).find((value) => value !== undefined && value !== null);

/** `{ values: […] }`, a list, or one alone, as a list. */
function valuesOf(value: unknown): Raw[] {
  const values = isRecord(value) && Array.isArray(value.values) ? value.values : value;
  return (Array.isArray(values) ? values : [values])
    .filter(isRecord)
    .filter((value) => Object.keys(value).length > 0);
}

function levelOf(value: unknown): Level {
  if (typeof value === 'number') {
    // Python's numbers of levels.
    return value >= 50
      ? 'fatal'
      : value >= 40
        ? 'error'
        : value >= 30
          ? 'warning'
          : value >= 20
            ? 'info'
            : 'debug';
  }
  const name = typeof value === 'string' ? value.toLowerCase() : '';
  if (name === 'critical' || name === 'emergency' || name === 'alert') return 'fatal';
  if (name === 'warn') return 'warning';
  if (name === 'log' || name === 'notice') return 'info';
  return levels.find((level) => level === name) ?? 'error';
}

/** ISO 8601, in UTC without a zone, or seconds since 1970; undefined for anything else. */
export function momentOf(value: unknown): Date | undefined {
  const seconds = typeof value === 'string' && /^\d{9,11}(?:\.\d+)?$/.test(value) ? Number(value) : value;
  if (typeof seconds === 'number') {
    const moment = new Date(seconds > 1e11 ? seconds : seconds * 1_000);
    return Number.isNaN(moment.getTime()) ? undefined : moment;
  }
  if (typeof value !== 'string' || value.length > 40) return undefined;
  const isZoned = /(?:z|[+-]\d\d:?\d\d)$/i.test(value);
  const moment = new Date(isZoned || !value.includes(':') ? value : `${value}Z`);
  return Number.isNaN(moment.getTime()) ? undefined : moment;
}

/** The event's own time where it is plausible; else the time of its arrival. */
function occurredAt(value: unknown, receivedAt: Date): Date {
  const moment = momentOf(value);
  if (!moment) return receivedAt;
  const behind = receivedAt.getTime() - moment.getTime();
  if (behind > MAX_BEHIND_MS || behind < -MAX_AHEAD_MS) return receivedAt;
  return behind < 0 ? receivedAt : moment;
}

const eventIdOf = (value: unknown): string | undefined => {
  const id = typeof value === 'string' ? value.replaceAll('-', '').toLowerCase() : '';
  return /^[\da-f]{32}$/.test(id) ? id : undefined;
};

/** The thrown value may be of any type. */
const logMessageOf = (value: unknown, cleaner: Cleaner): string | null =>
  typeof value === 'object' && value !== null
    ? JSON.stringify(cleaner.json(value)).slice(0, 16_384).toWellFormed()
    : cleaner.text(value);

function exceptionsOf(
  raw: Raw,
  threads: readonly Raw[],
  stackFrom: (stack: unknown) => Stack,
  cleaner: Cleaner,
): ThrownValue[] {
  const all = valuesOf(field(raw, 'exception', 'sentry.interfaces.Exception'));
  const lonely = all.length === 1 ? field(raw, 'stacktrace', 'sentry.interfaces.Stacktrace') : undefined;
  const stackOf = (value: Raw): Stack => {
    const thread = threads.find(({ id }) => id !== undefined && id === value.thread_id);
    return stackFrom(value.stacktrace ?? thread?.stacktrace ?? lonely);
  };
  // The last exception is the one that the application caught, so it gets the budget first.
  const found = all
    .slice(-MAX_EXCEPTIONS)
    .toReversed()
    .map((value): ThrownValue => {
      const mechanism = isRecord(value.mechanism) ? value.mechanism : {};
      return {
        type: cleaner.text(value.type, MAX_WORD_LENGTH),
        value: logMessageOf(value.value, cleaner),
        module: cleaner.text(value.module, MAX_WORD_LENGTH),
        handled: typeof mechanism.handled === 'boolean' ? mechanism.handled : null,
        mechanism: cleaner.text(mechanism.type, MAX_WORD_LENGTH),
        ...stackOf(value),
      };
    });
  return found.reverse();
}

const MAX_TEMPLATE_LENGTH = 8_192;
/** Placeholders of C and its imitators, of Python and of C#. */
const PLACEHOLDER = /%%|%(?:\.\d+)?[sdifrx]|\{(\d{0,2})\}/g;

type LogMessage = { message: string | null; message_template: string | null };

function messageOf(raw: Raw, cleaner: Cleaner): LogMessage {
  const entry = field(raw, 'logentry', 'sentry.interfaces.Message', 'message');
  const plain = cleaner.text(raw.message);
  if (!isRecord(entry)) return { message: plain ?? cleaner.text(entry), message_template: null };
  const template = cleaner.text(entry.message);
  const said = cleaner.text(entry.formatted) ?? plain ?? cleaner.text(formatted(entry));
  return { message: said ?? template, message_template: template };
}

/** Some generations of clients leave the formatting of the template to the server. */
function formatted({ message, params }: Raw): string | undefined {
  if (typeof message !== 'string' || message.length > MAX_TEMPLATE_LENGTH || !Array.isArray(params))
    return undefined;
  let next = 0;
  return message.replace(PLACEHOLDER, (whole, place: string | undefined) => {
    if (whole === '%%') return '%';
    const value: unknown = params[place ? Number(place) : next++];
    const isScalar = value !== undefined && (typeof value !== 'object' || value === null);
    return isScalar ? String(value).slice(0, MAX_PART_LENGTH) : whole;
  });
}

/** The first pairs of an object, of a list of pairs, or of a list of objects with a key and a value. */
function pairsOf(value: unknown, most: number): [string, unknown][] {
  if (isRecord(value)) return firstKeys(value, most).map((key) => [key, value[key]]);
  if (!Array.isArray(value)) return [];
  return value.slice(0, most).flatMap((each: unknown): [string, unknown][] => {
    const [key, held]: unknown[] = Array.isArray(each) ? each : isRecord(each) ? [each.key, each.value] : [];
    return typeof key === 'string' ? [[key, held]] : [];
  });
}

const firstKeys = (value: Raw, most: number): string[] => Object.keys(value).slice(0, most);

/** A header that came several times; only scalars count. */
const joined = (values: readonly unknown[]): string =>
  values
    .slice(0, MAX_HEADERS)
    .filter((value) => typeof value !== 'object')
    .join(', ');

function textsOf(value: unknown, most: number, cleaner: Cleaner): [string, string][] {
  const texts: [string, string][] = [];
  for (const [name, held] of pairsOf(value, most)) {
    const key = cleaner.text(name, MAX_WORD_LENGTH);
    const text = cleaner.hides(name) ? REMOVED : cleaner.text(Array.isArray(held) ? joined(held) : held);
    if (key !== null && text !== null) texts.push([key, text]);
  }
  return texts;
}

function tagsOf(raw: Raw, cleaner: Cleaner): [string, string][] {
  return textsOf(raw.tags, MAX_TAGS, cleaner).map(([key, value]) => [
    key,
    value.slice(0, MAX_WORD_LENGTH).toWellFormed(),
  ]);
}

const NAMED_OF_USER = new Set(['id', 'username', 'email', 'ip_address', 'geo']);

function userOf(
  raw: Raw,
  { keepAddresses, address }: Arrival,
  platform: string,
  cleaner: Cleaner,
): EventUser | null {
  const given = field(raw, 'user', 'sentry.interfaces.User');
  const user = isRecord(given) ? given : {};
  const { settings } = isRecord(raw.sdk) ? raw.sdk : {};
  const isAsked = platform === 'javascript' && !(isRecord(settings) && settings.infer_ip === 'never');
  const said = user.ip_address ?? (isAsked ? '{{auto}}' : undefined);
  const ip_address = keepAddresses
    ? said === '{{auto}}'
      ? address
      : cleaner.text(said, MAX_WORD_LENGTH)
    : null;
  const others = firstKeys(user, MAX_OF_USER)
    .filter((name) => !NAMED_OF_USER.has(name) || (name === 'geo' && keepAddresses))
    .map((name) => [name, user[name]] as const);
  const known = {
    id: cleaner.text(user.id, MAX_WORD_LENGTH),
    username: cleaner.text(user.username, MAX_WORD_LENGTH) ?? cleaner.text(user.name, MAX_WORD_LENGTH),
    email: cleaner.text(user.email, MAX_WORD_LENGTH),
    ip_address,
    data: cleaner.object(Object.fromEntries(others)) ?? {},
  };
  const isNobody = Object.values(known).every((value) => value === null || typeof value === 'object');
  return isNobody && others.length === 0 ? null : known;
}

function requestOf(raw: Raw, cleaner: Cleaner): EventRequest | null {
  const request = field(raw, 'request', 'sentry.interfaces.Http');
  if (!isRecord(request)) return null;
  return {
    method: cleaner.text(request.method, MAX_WORD_LENGTH),
    url: cleaner.text(request.url),
    query_string: cleaner.json(request.query_string),
    headers: textsOf(request.headers, MAX_HEADERS, cleaner),
    data: cleaner.json(request.data),
    env: cleaner.object(request.env) ?? {},
  };
}

function breadcrumbsOf(raw: Raw, cleaner: Cleaner): Breadcrumb[] {
  const kept: Breadcrumb[] = [];
  const all = valuesOf(field(raw, 'breadcrumbs', 'sentry.interfaces.Breadcrumbs'));
  for (const each of all.slice(-MAX_BREADCRUMBS).toReversed()) {
    if (cleaner.isFull()) break;
    kept.push({
      timestamp: momentOf(each.timestamp)?.toISOString() ?? null,
      type: cleaner.text(each.type, MAX_WORD_LENGTH),
      category: cleaner.text(each.category, MAX_WORD_LENGTH),
      level: cleaner.text(each.level, MAX_WORD_LENGTH),
      message: cleaner.text(each.message),
      data: cleaner.json(each.data),
    });
  }
  return kept.reverse();
}

/** Package names are not checked against names of secrets. */
const modulesOf = (raw: Raw, cleaner: Cleaner): JsonObject =>
  Object.fromEntries(
    pairsOf(raw.modules, MAX_MODULES)
      .filter(([name]) => name !== '__proto__')
      .flatMap(([name, version]): [string, Json][] => {
        const key = cleaner.text(name, MAX_WORD_LENGTH);
        return key === null ? [] : [[key, cleaner.text(version, MAX_WORD_LENGTH)]];
      }),
  );

function fingerprintOf(raw: Raw, cleaner: Cleaner): string[] {
  const given = Array.isArray(raw.fingerprint) ? raw.fingerprint : [raw.fingerprint ?? raw.checksum];
  return given.slice(0, MAX_FINGERPRINT_PARTS).flatMap((part) => cleaner.text(part, MAX_PART_LENGTH) ?? []);
}

function sdkOf({ sdk }: Raw, cleaner: Cleaner): NormalEvent['sdk'] {
  const name = isRecord(sdk) ? cleaner.text(sdk.name, MAX_WORD_LENGTH) : null;
  return isRecord(sdk) && name !== null
    ? { name, version: cleaner.text(sdk.version, MAX_WORD_LENGTH) }
    : null;
}

/** An event without source, variables, request, breadcrumbs, extra and modules; `complete` adds them. */
export type ReadEvent = { outline: NormalEvent; complete(): NormalEvent };

/**
 * The event, of at most `most` characters: the most important parts are read first, so that the rest is
 * dropped. The outline is enough to group it.
 */
export function outlineEvent(raw: Raw, arrival: Arrival, most: number): ReadEvent {
  const cleaner = createCleaner(arrival.keepAddresses, most);
  const word = (value: unknown): string | null => cleaner.text(value, MAX_WORD_LENGTH);
  const platform = word(raw.platform) ?? 'other';
  const threads = valuesOf(raw.threads);
  const head = {
    event_id: eventIdOf(raw.event_id) ?? eventIdOf(arrival.eventId) ?? randomHex(16),
    timestamp: occurredAt(raw.timestamp, arrival.receivedAt).toISOString(),
    platform,
    level: levelOf(raw.level),
    logger: word(raw.logger),
    transaction: word(raw.transaction) ?? word(raw.culprit),
    server_name: word(raw.server_name),
    release: word(raw.release),
    dist: word(raw.dist),
    environment: word(raw.environment),
    fingerprint: fingerprintOf(raw, cleaner),
    sdk: sdkOf(raw, cleaner),
    tags: tagsOf(raw, cleaner),
    user: userOf(raw, arrival, platform, cleaner),
    ...messageOf(raw, cleaner),
  };
  const bareFrames: BareFrame[] = [];
  const stackFrom = (stack: unknown) => readStack(stack, cleaner, platform, bareFrames);
  const exceptions = exceptionsOf(raw, threads, stackFrom, cleaner);
  const thread =
    threads.find(({ crashed }) => crashed === true) ?? threads.find(({ current }) => current === true);
  const stack =
    field(raw, 'stacktrace', 'sentry.interfaces.Stacktrace') ?? (thread ?? threads[0])?.stacktrace;
  const outline: NormalEvent = {
    ...head,
    exceptions,
    ...(exceptions.length === 0 ? stackFrom(stack) : { frames: [], frames_omitted: 0 }),
    contexts: cleaner.object(raw.contexts) ?? {},
    request: null,
    breadcrumbs: [],
    extra: {},
    modules: {},
  };
  return {
    outline,
    complete() {
      for (const frame of bareFrames) {
        if (cleaner.isFull()) break;
        surround(frame, cleaner);
      }
      return {
        ...outline,
        request: requestOf(raw, cleaner),
        breadcrumbs: breadcrumbsOf(raw, cleaner),
        extra: cleaner.object(raw.extra) ?? {},
        modules: modulesOf(raw, cleaner),
      };
    },
  };
}
