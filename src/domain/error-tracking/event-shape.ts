/**
 * What is kept of an event: one shape for whatever generation of client reported it, in the names of the protocol. Secrets
 * are out of it, and everything in it is bounded.
 */
import { promisify } from 'node:util';
import zlib from 'node:zlib';

/** Anything that JSON can say: what applications attach. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

export type Frame = {
  function: string | null;
  /** The package, namespace or module, in the words of the platform. */
  module: string | null;
  /** As short as the application knows it, and from the root on. */
  filename: string | null;
  abs_path: string | null;
  lineno: number | null;
  colno: number | null;
  /** Whether it is the application's own code: what the client says, or what the path gives away. */
  in_app: boolean;
  /** The line itself and those around it, where the client sent them. */
  pre_context: readonly string[];
  context_line: string | null;
  post_context: readonly string[];
  vars: JsonObject | null;
};

export type ThrownValue = {
  /** Its class; null where something without one was thrown. */
  type: string | null;
  /** What it says. */
  value: string | null;
  module: string | null;
  /** Whether the application caught it, and what did; null where the client does not say. */
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
  /** What else the application says of them. */
  data: JsonObject;
};

/** Without cookies, whatever they said. */
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
  /** What was said, and the template that it was said by. */
  message: string | null;
  message_template: string | null;
  /** The first cause first: the last is what the application met. */
  exceptions: readonly ThrownValue[];
  /** Where a message without an exception was said, or the thread that crashed. */
  frames: readonly Frame[];
  frames_omitted: number;
  /** What the client wants to be grouped by; empty where it leaves that to us. */
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

/** Stands where something was that is not to be kept. */
export const REMOVED = '[removed]';

const unpack = promisify(zlib.zstdDecompress);

/** The event of a stored row. */
export async function readEvent(row: { payload: Uint8Array }): Promise<NormalEvent> {
  const event: NormalEvent = JSON.parse((await unpack(row.payload)).toString());
  return event;
}

/** By Zstandard, which takes a third of the time that deflating does. */
const PACKING = { params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } };

/** The event as rows hold it. */
export const packEvent = (event: NormalEvent): Buffer =>
  zlib.zstdCompressSync(JSON.stringify(event), PACKING);
