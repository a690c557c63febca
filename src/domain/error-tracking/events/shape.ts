/**
 * The stored shape of an event, the same for all generations of clients, with the names of the protocol. It
 * has no secrets, and all of it is bounded.
 */
import { promisify } from 'node:util';
import zlib from 'node:zlib';

/** Any JSON value that an application attaches. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

export type Frame = {
  function: string | null;
  /** The package, namespace or module, in the words of the platform. */
  module: string | null;
  /** Relative to the application's root; `abs_path` begins at the root of the file system. */
  filename: string | null;
  abs_path: string | null;
  lineno: number | null;
  colno: number | null;
  /** Whether the code is the application's own: as the client says, else guessed from the path. */
  in_app: boolean;
  /** The line of source and those around it, where the client sent them. */
  pre_context: readonly string[];
  context_line: string | null;
  post_context: readonly string[];
  vars: JsonObject | null;
};

export type ThrownValue = {
  /** Its class; null where something without one was thrown. */
  type: string | null;
  /** The message of the exception. */
  value: string | null;
  module: string | null;
  /** Whether and by which mechanism the application caught it; null where the client does not say. */
  handled: boolean | null;
  mechanism: string | null;
  /** The oldest call first, as the protocol has them: the last is where it was thrown. */
  frames: readonly Frame[];
  /** Frames of its middle that are not kept. */
  frames_omitted: number;
};

export type Breadcrumb = {
  timestamp: string | null;
  type: string | null;
  category: string | null;
  level: string | null;
  message: string | null;
  data: Json;
};

export type EventUser = {
  id: string | null;
  username: string | null;
  email: string | null;
  /** Null unless the project keeps addresses. */
  ip_address: string | null;
  /** Other members that the application sent. */
  data: JsonObject;
};

/** Without cookies. */
export type EventRequest = {
  method: string | null;
  url: string | null;
  query_string: Json;
  headers: readonly (readonly [name: string, value: string])[];
  data: Json;
  env: JsonObject;
};

export type NormalEvent = {
  /** 32 hexadecimal digits. */
  event_id: string;
  /** ISO, never in the future. */
  timestamp: string;
  platform: string;
  level: Level;
  logger: string | null;
  transaction: string | null;
  server_name: string | null;
  release: string | null;
  dist: string | null;
  environment: string | null;
  /** The message, and its template. */
  message: string | null;
  message_template: string | null;
  /** The first cause first: the last is what the application met. */
  exceptions: readonly ThrownValue[];
  /** Frames of a message without an exception, or of the thread that crashed. */
  frames: readonly Frame[];
  frames_omitted: number;
  /** The client's own grouping; empty for the default rules. */
  fingerprint: readonly string[];
  tags: readonly (readonly [key: string, value: string])[];
  user: EventUser | null;
  request: EventRequest | null;
  contexts: JsonObject;
  breadcrumbs: readonly Breadcrumb[];
  extra: JsonObject;
  /** Packages and their versions. */
  modules: JsonObject;
  sdk: { name: string; version: string | null } | null;
};

export const levels = ['fatal', 'error', 'warning', 'info', 'debug'] as const;
export type Level = (typeof levels)[number];

/** Replaces a value that must not be kept. */
export const REMOVED = '[removed]';

const unpack = promisify(zlib.zstdDecompress);

/** The event of a stored row. */
export async function readEvent(row: { payload: Uint8Array }): Promise<NormalEvent> {
  const event: NormalEvent = JSON.parse((await unpack(row.payload)).toString());
  return event;
}

/** By Zstandard, which takes a third of the time that deflating does. */
const PACKING = { params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } };

/** Packs an event for its row. */
export const packEvent = (event: NormalEvent): Buffer =>
  zlib.zstdCompressSync(JSON.stringify(event), PACKING);
