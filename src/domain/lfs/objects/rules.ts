/** What programs say about objects. Pure. */
import { Failure } from '../../../platform/failure.ts';
import {
  isRawObject,
  type RawObject,
  type RawValue,
} from '../../../platform/http/parameters/raw-parameters.ts';
import { isOid, isSize, type LargeObject } from '../pointers/pointer.ts';

export type Batch = { operation: 'download' | 'upload'; objects: LargeObject[] };

/** Of one request; programs ask for a hundred. */
export const MAX_OBJECTS = 1_000;

const unprocessable = (reason: string): Failure => new Failure('unprocessable', reason);

/** 422 for what is none. */
export function requireObject(value: RawValue | undefined): LargeObject {
  const { oid, size } = isRawObject(value) ? value : {};
  if (!isOid(oid))
    throw unprocessable('An oid must be a SHA-256 digest: 64 hexadecimal digits in lower case.');
  if (!isSize(size)) throw unprocessable(`The size of ${oid} must be a number of bytes from 0 to 2^53 - 1.`);
  return { oid, size };
}

/** 404 without objects, as the public API has it; 413 for too many, 409 for another digest, 422 for what cannot be. */
export function requireBatch({ operation, objects, hash_algo: algorithm = 'sha256' }: RawObject): Batch {
  if (operation !== 'download' && operation !== 'upload')
    throw unprocessable('The operation must be download or upload.');
  if (algorithm !== 'sha256') throw new Failure('conflict', 'Objects are named by sha256 here.');
  if (!Array.isArray(objects) || objects.length === 0) throw new Failure('not_found', 'Not found.');
  if (objects.length > MAX_OBJECTS)
    throw new Failure(
      'payload_too_large',
      `A batch may have ${MAX_OBJECTS} objects: ask for the others in another one.`,
    );
  return { operation, objects: objects.map(requireObject) };
}
