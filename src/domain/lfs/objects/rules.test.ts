import { expect, test } from 'vitest';
import { Failure } from '../../../platform/failure.ts';
import { adoptParameters } from '../../../platform/http/parameters/raw-parameters.ts';
import { MAX_OBJECTS, requireBatch } from './rules.ts';

const OID = 'a'.repeat(64);
const object = { oid: OID, size: 5 };

function statusOf(body: unknown): number | undefined {
  try {
    requireBatch(adoptParameters(body));
    return undefined;
  } catch (error) {
    return error instanceof Failure ? error.status : 0;
  }
}

test.each([
  ['a download', { operation: 'download', objects: [object] }, undefined],
  [
    'an upload',
    { operation: 'upload', transfers: ['tus'], objects: [object], hash_algo: 'sha256' },
    undefined,
  ],
  ['another operation', { operation: 'delete', objects: [object] }, 422],
  ['no operation', { objects: [object] }, 422],
  ['another digest', { operation: 'upload', objects: [object], hash_algo: 'sha512' }, 409],
  ['no objects', { operation: 'upload', objects: [] }, 404],
  ['objects that are none', { operation: 'upload', objects: 'all' }, 404],
  ['an object that is none', { operation: 'upload', objects: [OID] }, 422],
  ['an empty object', { operation: 'upload', objects: [null] }, 422],
  ['capitals', { operation: 'upload', objects: [{ oid: 'A'.repeat(64), size: 5 }] }, 422],
  ['a path', { operation: 'upload', objects: [{ oid: `../${OID.slice(3)}`, size: 5 }] }, 422],
  ['a negative size', { operation: 'upload', objects: [{ oid: OID, size: -1 }] }, 422],
  ['a size beyond 2^53', { operation: 'upload', objects: [{ oid: OID, size: 2 ** 53 }] }, 400],
  ['no size', { operation: 'upload', objects: [{ oid: OID }] }, 422],
  ['as many as may be', { operation: 'upload', objects: Array(MAX_OBJECTS).fill(object) }, undefined],
  ['too many', { operation: 'upload', objects: Array(MAX_OBJECTS + 1).fill(object) }, 413],
])('%s', (_what, body, status) => {
  expect(statusOf(body)).toBe(status);
});
