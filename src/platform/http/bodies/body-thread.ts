/**
 * The thread that parses bodies which would block the event loop: large ones, and those of very many values.
 */
import { readSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { Failure } from '../../failure.ts';
import { collector } from '../../machine/memory.ts';
import { decodeUtf8, parseJson, parseUrlEncoded } from '../parameters/raw-parameters.ts';

/** `source` is the bytes, or the descriptor of an unlinked file. */
export type BodyToParse = { form: boolean; source: Uint8Array | { descriptor: number; size: number } };
/** Plain values: objects without a prototype get one when they are posted. */
export type ParsedBody = { parsed: unknown } | { refusal: string };

function bytesOf({ source }: BodyToParse): Uint8Array {
  if (source instanceof Uint8Array) return source;
  const bytes = Buffer.allocUnsafeSlow(source.size);
  for (let at = 0; at < bytes.length; ) {
    const count = readSync(source.descriptor, bytes, at, bytes.length - at, at);
    if (count === 0) throw new Error('a body was cut off on the disk');
    at += count;
  }
  return bytes;
}

/** Frees their memory at once. */
const free = (bytes: Uint8Array): void => {
  (bytes.buffer as ArrayBuffer).transfer(0);
};

function parseBody(request: BodyToParse): ParsedBody {
  try {
    const bytes = bytesOf(request);
    const text = decodeUtf8(bytes);
    free(bytes);
    return { parsed: request.form ? parseUrlEncoded(text) : parseJson(text) };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { refusal: String(error.publicMessage) };
  }
}

const collect = collector();
parentPort?.on('message', (request: BodyToParse) => {
  const answered = parseBody(request);
  // Collects the text, so that it is not in memory beside parsed values and message.
  collect({ execution: 'sync', type: 'major', flavor: 'regular' });
  parentPort?.postMessage(answered);
});
