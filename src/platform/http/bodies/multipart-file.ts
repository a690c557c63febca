/** Writes one file of a multipart body while it arrives, without buffering it in memory. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { Failure } from '../../failure.ts';
import { refuseUnstorable } from '../parameters/raw-parameters.ts';

export type ReceivedFile = { filename: string; size: number };

const malformed = (cause?: unknown): Failure =>
  new Failure('bad_request', '400 Bad request - the multipart body is malformed or truncated', { cause });
const tooLarge = (): Failure => new Failure('payload_too_large', '413 Request Entity Too Large');

function openParser(headers: IncomingHttpHeaders, type: string, parts: number): BusboyInstance {
  try {
    const limits = { parts, fieldSize: 65_536, headerPairs: 20, headerSize: 16 * 1_024 };
    return new Busboy({ headers: { ...headers, 'content-type': type }, limits });
  } catch (cause) {
    throw new Failure('bad_request', '400 Bad request - malformed multipart header', { cause });
  }
}

/**
 * Passes the first file of this name to `write`, one piece at a time; undefined without one. 413 for more
 * bytes than `maximum`, 400 for a truncated or malformed body. Bodies of other types have no files and are
 * not read.
 */
export async function receiveFile(
  stream: Readable,
  headers: IncomingHttpHeaders,
  options: {
    name: string;
    maximum: number;
    write(piece: Buffer): Promise<unknown>;
    /** Is told of the other fields. */
    field?(name: string, value: string): void;
    /** Of the body at most; 100 unless given. */
    parts?: number;
  },
): Promise<ReceivedFile | undefined> {
  const type = headers['content-type'] ?? '';
  if (!/^multipart\/form-data\b/i.test(type)) return undefined;
  const { parts = 100 } = options;
  const parser = openParser(headers, type, parts);
  return new Promise((resolve, reject) => {
    let received: ReceivedFile | undefined;
    let writing: Promise<unknown> = Promise.resolve();
    const fail = (failure: unknown): void => {
      stream.unpipe(parser);
      // The rest must be read, or the client never reads the response.
      stream.resume();
      reject(failure);
    };
    const take = async (content: Readable, file: ReceivedFile): Promise<void> => {
      for await (const piece of content) {
        file.size += piece.length;
        if (file.size > options.maximum) throw tooLarge();
        await options.write(piece);
      }
    };
    parser.on('file', (name: string | undefined, content: Readable, filename: string | undefined) => {
      content.on('error', (cause) => fail(malformed(cause)));
      if (name !== options.name || received || !filename) return void content.resume();
      try {
        refuseUnstorable(filename);
      } catch (error) {
        content.resume();
        return fail(error);
      }
      received = { filename, size: 0 };
      writing = take(content, received);
      writing.catch(fail);
    });
    parser.on('field', (name: string | undefined, value) => {
      if (name === undefined) return;
      try {
        refuseUnstorable(value);
        options.field?.(name, value);
      } catch (error) {
        fail(error);
      }
    });
    parser.on('partsLimit', () =>
      fail(new Failure('bad_request', `400 Bad request - the form has more than ${parts} parts`)),
    );
    parser.on('error', (cause) => fail(malformed(cause)));
    parser.on('finish', () => writing.then(() => resolve(received), fail));
    stream.on('error', (cause) => fail(malformed(cause)));
    stream.on('close', () => {
      if (!stream.readableEnded) fail(malformed());
    });
    stream.pipe(parser);
    // Nothing more is told of a stream that broke off before.
    if (stream.destroyed && !stream.readableEnded) fail(malformed());
  });
}
