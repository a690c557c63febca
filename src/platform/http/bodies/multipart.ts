/** multipart/form-data bodies: fields and small files, read into the same raw values as a form (spec: General request rules). */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { badRequest, Failure } from '../../failure.ts';
import {
  decodeUtf8,
  emptyObject,
  nestParameters,
  type RawObject,
  type RawValue,
  refuseUnstorable,
  UploadedFile,
} from '../parameters/raw-parameters.ts';

/** Bytes of a text field, of a file, and of all parts together, which are in memory; number of parts. */
export type MultipartLimits = { parts: number; fieldBytes: number; fileBytes: number; bodyBytes: number };

const defaultLimits: MultipartLimits = {
  parts: 1000,
  fieldBytes: 1024 * 1024,
  fileBytes: 200 * 1024,
  bodyBytes: 10 * 1024 * 1024,
};

type Part = { name: string; filename: string | undefined; contentType: string; chunks: Buffer[] };

/** Reads the whole body; 413 for a part or body over its limit, 400 for a truncated or malformed body. */
export const readMultipart = async (
  stream: Readable,
  headers: IncomingHttpHeaders,
  limits: Partial<MultipartLimits> = {},
): Promise<RawObject> => {
  const all = { ...defaultLimits, ...limits };
  const parts = await readParts(stream, headers, all);
  if (parts.length === 0) return emptyObject();
  const pairs: [string, RawValue][] = [];
  for (const part of parts) {
    const bytes = Buffer.concat(part.chunks);
    refuseUnstorable(part.name);
    if (part.filename === undefined) {
      const text = decodeUtf8(bytes);
      refuseUnstorable(text);
      pairs.push([part.name, text]);
    } else if (part.filename !== '' || bytes.length > 0) {
      // A browser's file input without a file: absent.
      refuseUnstorable(part.filename);
      pairs.push([part.name, new UploadedFile(part.filename, part.contentType, bytes)]);
    }
  }
  return nestParameters(pairs, { pairs: all.parts });
};

const openParser = (headers: IncomingHttpHeaders, limits: MultipartLimits): BusboyInstance => {
  const type = headers['content-type'] ?? '';
  if (!/^multipart\/form-data\b/i.test(type)) {
    throw new Failure('unsupported_media_type', '415 Unsupported Media Type');
  }
  try {
    return new Busboy({
      headers: { ...headers, 'content-type': type },
      limits: { parts: limits.parts, headerPairs: 20, headerSize: 16 * 1024 },
      // Parts are read as bytes, so that text is checked as UTF-8 here, and not repaired by the parser.
      isPartAFile: () => true,
    });
  } catch (cause) {
    throw new Failure('bad_request', '400 Bad request - malformed multipart header', { cause });
  }
};

const readParts = (
  stream: Readable,
  headers: IncomingHttpHeaders,
  limits: MultipartLimits,
): Promise<Part[]> => {
  const parser = openParser(headers, limits);
  return new Promise((resolve, reject) => {
    const parts: Part[] = [];
    let total = 0;
    const fail = (failure: Failure) => {
      stream.unpipe(parser);
      // The rest must be read, or the client never reads the response.
      stream.resume();
      reject(failure);
    };
    const failTruncated = (cause?: unknown) =>
      fail(
        new Failure('bad_request', '400 Bad request - the multipart body is malformed or truncated', {
          cause,
        }),
      );
    const failTooLarge = () => fail(new Failure('payload_too_large', '413 Request Entity Too Large'));

    // The parser's types promise name and filename, but a part may lack either.
    parser.on(
      'file',
      (name: string | undefined, content, filename: string | undefined, _encoding, contentType) => {
        content.on('error', failTruncated);
        if (name === undefined) return void content.resume();
        const part: Part = { name, filename, contentType, chunks: [] };
        parts.push(part);
        let size = 0;
        const limit = filename === undefined ? limits.fieldBytes : limits.fileBytes;
        content.on('data', (chunk: Buffer) => {
          size += chunk.length;
          total += chunk.length;
          if (size > limit || total > limits.bodyBytes) failTooLarge();
          else part.chunks.push(chunk);
        });
      },
    );
    parser.on('partsLimit', () => fail(badRequest(`more than ${limits.parts} parts`)));
    parser.on('error', failTruncated);
    parser.on('finish', () => resolve(parts));
    stream.on('error', failTruncated);
    stream.on('close', () => {
      if (!stream.readableEnded) failTruncated();
    });
    stream.pipe(parser);
  });
};
