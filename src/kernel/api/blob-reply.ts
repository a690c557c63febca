/** A blob as a reply that no browser runs: whole, a range of it, or what the client has already. */
import { Readable } from 'node:stream';
import { notFound } from '../../platform/failure.ts';
import { byteRange } from '../../platform/http/byte-range.ts';
import { dispositionHeader } from '../../platform/http/disposition.ts';
import type { HttpRequest, HttpResponse } from '../../platform/http/messages.ts';
import type { Needs } from '../services.ts';
import { Reply } from './endpoint.ts';

/** Statuses of such replies, beside 200. */
export const downloadStatuses = [206, 304, 416] as const;

type File = {
  sha256: Buffer;
  /** The name under which it is saved; without one it is shown where it is. */
  name?: string;
  /** It is shown all the same. */
  inline?: boolean;
  contentType?: string;
};

/** 404 where its bytes are gone, 416 for a range behind its end. Its ETag is its digest. */
export async function replyWithBlob(
  { blobs }: Needs<'blobs'>,
  { method, headers }: Pick<HttpRequest, 'method' | 'headers'>,
  { sha256, name, inline = false, contentType = 'application/octet-stream' }: File,
): Promise<Reply<Readable>> {
  const etag = `W/"${sha256.toString('hex')}"`;
  const kept = { etag, 'cache-control': 'private, max-age=0, must-revalidate' };
  const known = headers['if-none-match'];
  if (
    typeof known === 'string' &&
    known.split(',').some((each) => ['*', etag, etag.slice(2)].includes(each.trim()))
  )
    return new Reply<Readable>(304, undefined, kept);
  const blob = await blobs.open(sha256);
  if (!blob) throw notFound();
  // What was begun is gone on with only if it is the same.
  const isSame = headers['if-range'] === undefined || headers['if-range'] === etag;
  const asked = isSame && method === 'GET' ? headers.range?.toString() : undefined;
  const range = byteRange(asked, blob.size);
  if (range === 'unsatisfiable') {
    await blob.close();
    return new Reply<Readable>(416, undefined, { ...kept, 'content-range': `bytes */${blob.size}` });
  }
  const length = range ? range.end - range.start + 1 : blob.size;
  const reply = {
    ...kept,
    'content-type': contentType,
    'content-length': String(length),
    'accept-ranges': 'bytes',
    'content-security-policy': "default-src 'none'; sandbox",
    'cross-origin-resource-policy': 'same-origin',
    ...(name !== undefined && {
      'content-disposition': dispositionHeader(inline ? 'inline' : 'attachment', name),
    }),
    ...(range && { 'content-range': `bytes ${range.start}-${range.end}/${blob.size}` }),
  };
  if (method !== 'HEAD') return new Reply(range ? 206 : 200, blob.stream(range), reply);
  await blob.close();
  return new Reply(200, Readable.from([]), reply);
}

/** The reply on a route outside the API. */
export const asResponse = ({ status, headers, value }: Reply<Readable>): HttpResponse => ({
  status,
  headers,
  ...(value && { body: value }),
});
