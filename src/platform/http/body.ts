/** A request's body as raw parameters, by its content type (spec: General request rules, 1). */
import { Readable } from 'node:stream';
import { Failure } from '../failure.ts';
import type { HttpRequest } from './answer.ts';
import { readMultipart } from './multipart.ts';
import { decodeUtf8, emptyObject, parseJsonBody, parseUrlEncoded, type RawObject } from './raw-parameters.ts';

/** The parameters of the body; none when it is empty. 415 for a type that no endpoint reads. */
export async function readBody(request: HttpRequest): Promise<RawObject> {
  const { body } = request;
  if (body === undefined || body.length === 0) return emptyObject();
  const type = request.headers['content-type']?.toString().split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/json' || type.endsWith('+json')) return parseJsonBody(decodeUtf8(body));
  if (type === 'application/x-www-form-urlencoded') return parseUrlEncoded(decodeUtf8(body));
  if (type === 'multipart/form-data') {
    // The server held the body to the endpoint's own limit; no part of it needs another.
    const { length } = body;
    const limits = { fieldBytes: length, fileBytes: length, bodyBytes: length };
    return readMultipart(Readable.from([body]), request.headers, limits);
  }
  throw new Failure('unsupported_media_type', '415 Unsupported Media Type');
}
