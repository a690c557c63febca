/** What makes two requests the same write: who, where, and every parameter as it was read. */

import { readBody } from '../../platform/http/body.ts';
import type { HttpRequest } from '../../platform/http/messages.ts';
import {
  emptyObject,
  isRawObject,
  mergeParameters,
  parseUrlEncoded,
  type RawObject,
  type RawValue,
  UploadedFile,
} from '../../platform/http/raw-parameters.ts';
import { digest } from '../../platform/secret.ts';

/** They say who asks, and are no part of what is written. */
const credentials: readonly string[] = ['private_token', 'access_token', 'job_token', 'sudo'];

/** The value with all names in order, so that the order in which they were sent does not count. */
function ordered(value: RawValue): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (value instanceof UploadedFile) return [value.filename, digest(value.bytes).toString('hex')];
  if (isRawObject(value)) return entriesOf(value);
  // A form has no other values than texts.
  return value === null ? null : String(value);
}

const entriesOf = (object: RawObject): unknown[] =>
  Object.keys(object)
    .sort()
    .map((name) => [name, ordered(object[name] ?? null)]);

/** A digest over the user, the method, the path and all parameters; whether they came as JSON or as a form is one. */
export async function digestRequest(request: HttpRequest, userId: number): Promise<Buffer> {
  const sent = mergeParameters(parseUrlEncoded(request.query), await readBody(request), request.params);
  const written = Object.assign(emptyObject(), sent);
  for (const name of credentials) delete written[name];
  return digest(JSON.stringify([userId, request.method, request.path, entriesOf(written)]));
}
