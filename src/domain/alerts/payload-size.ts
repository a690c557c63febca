/** How large and how deep a payload may be (spec: a maximum size applies to alert payloads). */
import type { JsonObject } from '../../core/alerts/records.ts';
import type { Json } from '../../platform/db/rows.ts';
import { badRequest, Failure } from '../../platform/failure.ts';
import { JsonMeter } from '../../platform/http/json-meter.ts';
import { isList, isObject, type Value } from './values.ts';

/** Of the body as it was sent. */
export const MAX_PAYLOAD_BYTES = 1024 * 1024;
/** Objects and arrays within each other; the outermost is the first. */
export const MAX_PAYLOAD_DEPTH = 100;

const TOO_LARGE = 'the payload is larger than 1 MiB';
const TOO_DEEP = `the payload is nested deeper than ${MAX_PAYLOAD_DEPTH} levels`;

/** Looks no deeper than it must, so that no payload takes more of the stack. */
function isDeeperThan(levels: number, value: Value): boolean {
  if (!isList(value) && !isObject(value)) return false;
  if (levels === 0) return true;
  for (const item of isList(value) ? value : Object.values(value)) {
    if (isDeeperThan(levels - 1, item)) return true;
  }
  return false;
}

/** What is wrong with a payload that came as part of something else; undefined when nothing is. */
export function measure(payload: JsonObject): string | undefined {
  if (isDeeperThan(MAX_PAYLOAD_DEPTH, payload)) return TOO_DEEP;
  return Buffer.byteLength(JSON.stringify(payload)) > MAX_PAYLOAD_BYTES ? TOO_LARGE : undefined;
}

/** Bytes that are no UTF-8 become U+FFFD: tools that cut text to a length also cut characters. */
const decoder = new TextDecoder();

/** The JSON object in a body; a 400 that says why when there is none, or it is too large or too deep. */
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

/** Says of a body while it arrives what its bytes show: too many of them, too many values, too deep. */
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
