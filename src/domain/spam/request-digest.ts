/** Digests of requests, to recognise a repeated write: user, path and every parameter. */

import { readBody } from '../../platform/http/bodies/body.ts';
import type { HttpRequest } from '../../platform/http/messages.ts';
import {
  emptyObject,
  isRawObject,
  mergeParameters,
  parseUrlEncoded,
  type RawObject,
  type RawValue,
  UploadedFile,
} from '../../platform/http/parameters/raw-parameters.ts';
import { digest } from '../../platform/secret.ts';

/** Parameters that identify the caller, not the write. */
const credentials: readonly string[] = ['private_token', 'access_token', 'job_token', 'sudo'];

/** The value with sorted names, so that their order does not count. */
function ordered(value: RawValue): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (value instanceof UploadedFile) return [value.filename, digest(value.bytes).toString('hex')];
  if (isRawObject(value)) return entriesOf(value);
  // Forms have only texts.
  return value === null ? null : String(value);
}

const entriesOf = (object: RawObject): unknown[] =>
  Object.keys(object)
    .sort()
    .map((name) => [name, ordered(object[name] ?? null)]);

/** A digest of the user, the method, the path and all parameters; JSON and forms give the same. */
export async function digestRequest(request: HttpRequest, userId: number): Promise<Buffer> {
  const sent = mergeParameters(parseUrlEncoded(request.query), await readBody(request), request.params);
  const written = Object.assign(emptyObject(), sent);
  for (const name of credentials) delete written[name];
  return digest(JSON.stringify([userId, request.method, request.path, entriesOf(written)]));
}
