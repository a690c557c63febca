/** Translates database errors into Failures. */
import { NoResultError } from 'kysely';
import { Failure, invalid, notFound } from '../failure.ts';

type DatabaseError = { code: string; constraint?: string; message: string };

const isDatabaseError = (error: unknown): error is DatabaseError =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string';

/** Unique indexes that values of clients collide with: the property of the message, and the status, 400 unless given. */
export type UniqueIndexes = Readonly<
  Record<string, { property: string; status?: 'conflict' | 'unprocessable' }>
>;

/** The unique index that refused a row, or undefined for any other error. */
export const violatedIndex = (error: unknown): string | undefined =>
  isDatabaseError(error) && error.code === '23505' ? error.constraint : undefined;

/**
 * Errors for which the database cannot serve now: no connection, no disk or memory, read-only, interrupted.
 */
const unavailable = /^(08...|53...|57P0.|57014|25006|58030|CONNECT|ECONN|ENOENT|EPIPE)/;

/**
 * Whether the values or the locks of one of its rows made the database refuse a whole statement (SQLSTATE classes 21 to 23,
 * 40, 54 and 55).
 */
export const isRolledBack = (error: unknown): boolean =>
  /^(21|22|23|40|54|55)/.test(String((error as { code?: unknown }).code));

/** Whether the database, the way to it, or the operating system refused something: what else a program throws is its own. */
export const isOutside = (error: unknown): boolean =>
  isDatabaseError(error) && ('syscall' in error || /^(\d[\dA-Z]{4}|P0|XX|CONNECT)/.test(error.code));

/** Translates a driver error into a Failure where the client can react to it; returns others as they are. */
export function translateDatabaseError(error: unknown, unique: UniqueIndexes = {}): unknown {
  // The row was deleted after the request had found it.
  if (error instanceof NoResultError) return notFound();
  if (!isDatabaseError(error)) return error;
  const taken = unique[violatedIndex(error) ?? ''];
  if (taken) {
    const { property, status = 'bad_request' } = taken;
    return new Failure(status, { [property]: ['has already been taken'] }, { cause: error });
  }
  // The row refers to one that was deleted meanwhile. Deleting a row that is referred to stays a fault.
  if (error.code === '23503' && error.message.startsWith('insert or update')) return notFound();
  // A text too long for an index: full paths have no declared bound.
  if (error.code === '54000') return invalid({ base: ['a value is too long'] });
  if (error.code === '22003') return invalid({ base: ['a number is out of range'] });
  if (unavailable.test(error.code)) {
    const text =
      error.code === '53100' ? '503 Service Unavailable: no space left on disk' : '503 Service Unavailable';
    return new Failure('unavailable', text, { cause: error, headers: { 'retry-after': '5' } });
  }
  return error;
}
