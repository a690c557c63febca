/**
 * Requests of git clients: bodies that may be compressed, and the version of the protocol that they ask for.
 */
import { pipeline, type Readable, Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Failure } from '../../../platform/failure.ts';
import type { Service } from '../../../platform/git/program/transport.ts';
import type { HttpRequest } from '../../../platform/http/messages.ts';

/**
 * Bytes of a fetch's request, and of any compressed body: these are names of commits. Packs are compressed by
 * themselves.
 */
const MAX_REQUEST_BYTES = 64 * 1_048_576;

/** `version=0` to `version=2` of the header Git-Protocol, for the environment of git; undefined for anything else. */
export function protocolOf(header: string | string[] | undefined): string | undefined {
  const parts = header?.toString().split(':') ?? [];
  return parts.find((part) => /^version=[012]$/.test(part));
}

/** 415 unless the body has the type of this service's clients. */
export function requireType(request: HttpRequest, type: string): void {
  if (request.headers['content-type'] !== `application/x-git-${type}-request`)
    throw new Failure('unsupported_media_type', '415 Unsupported Media Type');
}

/** Passes on so many bytes; more is an error of the stream. */
const upTo = (limit: number): Transform => {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > limit) done(new Error(`more than ${limit} bytes`));
      else done(null, chunk);
    },
  });
};

/** The body, decompressed; a fetch's with a limit on its bytes. 415 for an encoding other than gzip. */
export function openBody({ headers, bodyStream }: HttpRequest, service: Service): Readable {
  const encoding = headers['content-encoding']?.toString().toLowerCase() ?? 'identity';
  if (encoding !== 'identity' && encoding !== 'gzip' && encoding !== 'x-gzip')
    throw new Failure('unsupported_media_type', '415 Unsupported Media Type');
  // The reader at the end of the pipeline gets the errors of its parts.
  const seen = (): void => {};
  if (encoding !== 'identity') return pipeline(bodyStream, createGunzip(), upTo(MAX_REQUEST_BYTES), seen);
  return service === 'upload-pack' ? pipeline(bodyStream, upTo(MAX_REQUEST_BYTES), seen) : bodyStream;
}

/** Iterates over a body that a later reader may go on with. */
export const chunksOf = (body: Readable): AsyncIterableIterator<Buffer> =>
  body.iterator({ destroyOnReturn: false });
