/**
 * Waiting for the disk apart from the commit. A transaction that commits with DEFERRED_FLUSH gives its locks back before
 * the log is on the disk, so that whoever waits for them need not wait for the disk too; its caller answers nobody until
 * flushed() says that it is. The log is written in order: what depends on such a commit is never kept without it.
 */
import { CompiledQuery } from 'kysely';
import type { Db } from './database.ts';

/** An expression for a statement of the transaction, evaluated once. */
export const DEFERRED_FLUSH = `set_config('synchronous_commit', 'off', true)`;

/** A transaction that changes nothing and is written to the log: its commit waits for the disk as the server is set to. */
const mark = CompiledQuery.raw(`select pg_logical_emit_message(true, 'flush', '')`);

type Flushing = { current: Promise<unknown>; next: Promise<void> | undefined };
const flushings = new WeakMap<Db, Flushing>();

const flush = (db: Db): Promise<unknown> => db.executeQuery(mark);

/**
 * Resolves when all that was committed before the call is on the disk. Callers that come while one flush is on its way
 * share the next; a failure is everybody's who waits for it.
 */
export function flushed(db: Db): Promise<void> {
  const flushing = flushings.get(db);
  if (!flushing) {
    const state: Flushing = { current: flush(db), next: undefined };
    flushings.set(db, state);
    return settle(db, state);
  }
  flushing.next ??= flushing.current.then(
    () => proceed(db, flushing),
    () => proceed(db, flushing),
  );
  return flushing.next;
}

function proceed(db: Db, flushing: Flushing): Promise<void> {
  const state: Flushing = { current: flush(db), next: undefined };
  flushings.set(db, state);
  flushing.next = undefined;
  return settle(db, state);
}

async function settle(db: Db, state: Flushing): Promise<void> {
  try {
    await state.current;
  } finally {
    if (flushings.get(db) === state && state.next === undefined) flushings.delete(db);
  }
}
