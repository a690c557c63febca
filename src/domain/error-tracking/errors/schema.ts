/** Parameters and records of errors and their events. */
import Type, { type Static } from 'typebox';
import { dateTime, integerId, nullable, stringEnum } from '../../../platform/http/parameters/schema.ts';
import type { Json, JsonObject } from '../events/shape.ts';

export const errorStatuses = ['unresolved', 'resolved', 'ignored'] as const;
export type ErrorStatus = (typeof errorStatuses)[number];

export const errorOrders = ['last_seen', 'first_seen', 'frequency'] as const;
export type ErrorOrder = (typeof errorOrders)[number];

const record = {
  id: Type.Integer(),
  project_id: Type.Integer(),
  name: Type.String({ description: 'The type of the exception, or the first line of the message.' }),
  description: Type.String({ description: 'What the exception said.' }),
  actor: Type.String({ description: 'Where it happened: the transaction, or the function.' }),
  platform: Type.String(),
  level: Type.String(),
  status: stringEnum(errorStatuses),
  first_seen: dateTime(),
  last_seen: dateTime(),
  events_count: Type.Integer(),
  users_count: Type.Integer(),
  first_release: nullable(Type.String()),
  last_release: nullable(Type.String()),
  resolved_at: nullable(dateTime()),
  regressed_at: nullable(dateTime({ description: 'When it came back after it was resolved.' })),
  issue_iid: nullable(Type.Integer({ description: 'Of the issue that was made of it.' })),
  web_url: Type.String({ description: 'Its page; for an error of an external tracker, the page there.' }),
};

export const ErrorRecord = Type.Object(record);
export type ErrorRecord = Static<typeof ErrorRecord>;

const text = nullable(Type.String());
const lines = Type.Array(Type.String());
/** An object that the application attached, without its secrets. */
const attached = Type.Unsafe<JsonObject>({ type: 'object', additionalProperties: true });
const attachedOrNull = Type.Unsafe<JsonObject | null>({
  type: ['object', 'null'],
  additionalProperties: true,
});

const FrameRecord = Type.Object({
  function: text,
  module: text,
  filename: text,
  abs_path: text,
  lineno: nullable(Type.Integer()),
  colno: nullable(Type.Integer()),
  in_app: Type.Boolean({ description: "Whether it is the application's own code." }),
  pre_context: lines,
  context_line: text,
  post_context: lines,
  vars: attachedOrNull,
});
export type FrameRecord = Static<typeof FrameRecord>;

const frames = Type.Array(FrameRecord, {
  description: 'The oldest call first: the last is where it happened.',
});
const frames_omitted = Type.Integer({ description: 'Of the middle: how many are not kept.' });

const ExceptionRecord = Type.Object({
  type: text,
  value: text,
  module: text,
  handled: nullable(Type.Boolean({ description: 'Whether the application caught it.' })),
  mechanism: text,
  frames,
  frames_omitted,
});
export type ExceptionRecord = Static<typeof ExceptionRecord>;

const BreadcrumbRecord = Type.Object({
  timestamp: text,
  type: text,
  category: text,
  level: text,
  message: text,
  data: Type.Unsafe<Json>({}),
});

const occurrence = {
  event_id: Type.String({ description: 'As the application named it: 32 hexadecimal digits.' }),
  level: Type.String(),
  environment: text,
  release: text,
  abridged: Type.Boolean({
    description: 'Whether it came when many of its error did, and its surroundings are not kept.',
  }),
  occurred_at: dateTime(),
  received_at: dateTime(),
};

const UserRecord = Type.Object({
  id: text,
  username: text,
  email: text,
  ip_address: nullable(Type.String({ description: 'Where the project keeps addresses.' })),
  data: attached,
});

const RequestRecord = Type.Object({
  method: text,
  url: text,
  query_string: Type.Unsafe<Json>({}),
  headers: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })),
  data: Type.Unsafe<Json>({}),
  env: attached,
});

/** An event as the list of an error's events shows it. */
export const EventRecord = Type.Object({ id: Type.Integer(), ...occurrence });
export type EventRecord = Static<typeof EventRecord>;

/** A whole event, as far as it is kept. */
export const WholeEventRecord = Type.Object({
  ...occurrence,
  platform: Type.String(),
  logger: text,
  transaction: text,
  server_name: text,
  dist: text,
  message: text,
  exceptions: Type.Array(ExceptionRecord, {
    description: 'The first cause first: the last is what the application met.',
  }),
  frames,
  frames_omitted,
  tags: Type.Array(Type.Object({ key: Type.String(), value: Type.String() })),
  user: nullable(UserRecord),
  request: nullable(RequestRecord),
  contexts: attached,
  breadcrumbs: Type.Array(BreadcrumbRecord),
  extra: attached,
  modules: attached,
  sdk: Type.Unsafe<{ name: string; version: string | null } | null>({
    type: ['object', 'null'],
    properties: { name: { type: 'string' }, version: { type: ['string', 'null'] } },
  }),
});
export type WholeEventRecord = Static<typeof WholeEventRecord>;

const CountRecord = Type.Object({ hour: dateTime(), events: Type.Integer() });
export type CountRecord = Static<typeof CountRecord>;

const TagSummary = Type.Object({
  key: Type.String(),
  values: Type.Array(Type.Object({ value: Type.String(), events: Type.Integer() }), {
    description: 'The most frequent, ten at most.',
  }),
});
export type TagSummary = Static<typeof TagSummary>;

/** An error with its counts, tags and latest event. */
export const ErrorDetailRecord = Type.Object({
  ...record,
  counts: Type.Array(CountRecord, {
    description: 'Of the last 30 days, hour by hour; hours without events are left out.',
  }),
  tags: Type.Array(TagSummary),
  latest_event: nullable(WholeEventRecord),
});
export type ErrorDetailRecord = Static<typeof ErrorDetailRecord>;

const error_id = integerId();

export const ListErrors = Type.Object({
  status: Type.Optional(stringEnum([...errorStatuses, 'all'], { default: 'unresolved' })),
  search: Type.Optional(
    Type.String({ maxLength: 1_024, description: 'A part of the name, of what was said, or of where.' }),
  ),
  order_by: Type.Optional(stringEnum(errorOrders, { default: 'last_seen' })),
  sort: Type.Optional(stringEnum(['asc', 'desc'], { default: 'desc' })),
});
export type ListErrors = Static<typeof ListErrors>;

export const OneError = Type.Object({ error_id });
export const OneEvent = Type.Object({
  error_id,
  event_id: Type.String({ description: 'As the application named it.' }),
});
export const UpdateError = Type.Object({ error_id, status: stringEnum(errorStatuses) });
export const IssueOfError = Type.Object({
  error_id,
  confidential: Type.Optional(
    Type.Boolean({ description: 'True unless told otherwise where anybody reads the issues.' }),
  ),
});
