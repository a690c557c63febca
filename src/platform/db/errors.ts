/** What the database refuses, as the Failure that a client reads. */
import { NoResultError } from 'kysely';
import { Failure, invalid, notFound } from '../failure.ts';

type DatabaseError = { code: string; constraint_name?: string; message: string };

const isDatabaseError = (error: unknown): error is DatabaseError =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string';

/** Unique indexes and the property whose value was taken. A capability adds its own when it mounts. */
const takenProperty = new Map<string, { property: string; status: 'bad_request' | 'conflict' }>();

/** Names the property that a unique index guards: a violation answers `{message: {property: ['has already been taken']}}`. */
export function declareUnique(
  index: string,
  property: string,
  status: 'bad_request' | 'conflict' = 'bad_request',
) {
  takenProperty.set(index, { property, status });
}

/** Errors that mean the database itself cannot serve now: no connection, out of disk or memory, read-only, cut off. */
const unavailable = /^(08...|53...|57P0.|57014|25006|58030|CONNECT|ECONN|ENOENT|EPIPE)/;

/** Turns a driver error into a Failure where the client can do something about it; anything else is returned as it is. */
export function translateDatabaseError(error: unknown): unknown {
  // A row that was there when the request found it went in the meantime.
  if (error instanceof NoResultError) return notFound();
  if (!isDatabaseError(error)) return error;
  if (error.code === '23505') {
    const known = error.constraint_name === undefined ? undefined : takenProperty.get(error.constraint_name);
    if (known)
      return new Failure(known.status, { [known.property]: ['has already been taken'] }, { cause: error });
  }
  // A row names another that went in the meantime. To remove what others still name is a fault, and stays one.
  if (error.code === '23503' && error.message.startsWith('insert or update')) return notFound();
  // A text that is too long for an index: no declaration bounds a full path, which is made of many.
  if (error.code === '54000') return invalid({ base: ['a value is too long'] });
  if (error.code === '22003') return invalid({ base: ['a number is out of range'] });
  if (unavailable.test(error.code)) {
    const text =
      error.code === '53100' ? '503 Service Unavailable: no space left on disk' : '503 Service Unavailable';
    return new Failure('unavailable', text, { cause: error, headers: { 'retry-after': '5' } });
  }
  return error;
}
