/** Bounds of a payload's size and depth (spec: a maximum size applies to alert payloads). */

import type { Json } from '../../../platform/db/rows.ts';
import { badRequest, Failure } from '../../../platform/failure.ts';
import { JsonMeter } from '../../../platform/http/parameters/json-meter.ts';
import type { JsonObject } from '../records.ts';
import { isList, isObject, type Value } from './values.ts';

/** Bytes of the body as sent. */
export const MAX_PAYLOAD_BYTES = 1024 * 1024;
/** Nested objects and arrays, the outermost included. */
export const MAX_PAYLOAD_DEPTH = 100;

const TOO_LARGE = 'the payload is larger than 1 MiB';
const TOO_DEEP = `the payload is nested deeper than ${MAX_PAYLOAD_DEPTH} levels`;

/** Stops at the bound, so that a payload cannot exhaust the stack. */
function isDeeperThan(levels: number, value: Value): boolean {
  if (!isList(value) && !isObject(value)) return false;
  if (levels === 0) return true;
  for (const item of isList(value) ? value : Object.values(value)) {
    if (isDeeperThan(levels - 1, item)) return true;
  }
  return false;
}

/** The failure of a payload inside another body; undefined when it is within the bounds. */
export function measure(payload: JsonObject): string | undefined {
  if (isDeeperThan(MAX_PAYLOAD_DEPTH, payload)) return TOO_DEEP;
  return Buffer.byteLength(JSON.stringify(payload)) > MAX_PAYLOAD_BYTES ? TOO_LARGE : undefined;
}

/** Invalid UTF-8 becomes U+FFFD: tools that truncate texts also cut characters. */
const decoder = new TextDecoder();

/** The JSON object in a body; throws a 400 where there is none, or it is too large or too deep. */
export function readPayload(body: Uint8Array): JsonObject {
  if (body.length > MAX_PAYLOAD_BYTES) throw badRequest(TOO_LARGE);
  const payload = parse(decoder.decode(body));
  if (!isObject(payload)) throw badRequest('the payload is not a JSON object');
  if (isDeeperThan(MAX_PAYLOAD_DEPTH, payload)) throw badRequest(TOO_DEEP);
  return payload;
}

function parse(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest('the payload is not JSON');
  }
}

/** Checks a body while it arrives, by its bytes alone: size, number of values, depth. */
export class PayloadMeter {
  readonly #json = new JsonMeter();
  #length = 0;

  push(piece: Uint8Array): Failure | undefined {
    this.#length += piece.length;
    if (this.#length > MAX_PAYLOAD_BYTES) return badRequest(TOO_LARGE);
    try {
      this.#json.push(piece);
      return undefined;
    } catch (error) {
      if (error instanceof Failure) return error;
      throw error;
    }
  }
}
