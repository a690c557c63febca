/** The thread that parses bodies which would hold the event loop: large ones, and those of very many values. */
import { readSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { Failure } from '../failure.ts';
import { collector } from '../memory.ts';
import { decodeUtf8, parseJson, parseUrlEncoded } from './raw-parameters.ts';

/** `source` is the bytes, or a file that was opened for them and has no name any more. */
export type BodyToParse = { form: boolean; source: Uint8Array | { descriptor: number; size: number } };
/** Plain values: what has no prototype here gets one on its way. */
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

/** Gives their memory back at once. */
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
  // The text is not in memory any more beside what is parsed of it and the message.
  collect({ execution: 'sync', type: 'major', flavor: 'regular' });
  parentPort?.postMessage(answered);
});
