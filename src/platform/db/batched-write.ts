/** Writes of one moment by one statement, where each could also be written alone. */
import { batch } from '../batch.ts';
import type { Db } from './database.ts';
import { isRolledBack, translateDatabaseError } from './errors.ts';

/** For a `with`: a lock that is held for longer rolls the batch back. In milliseconds; of the transaction alone. */
const SHORT_LOCK_TIMEOUT = `set_config('lock_timeout', '50', true)`;

/** Bytes: larger inputs are written alone, since one JSON of many would hold the event loop. */
const LARGE_INPUT = 16_384;

export type BatchedWrite<Input, Written> = {
  /** Writes the input in the caller's transaction, or in its own. */
  alone(db: Db, input: Input): Promise<Written>;
  /** Writes the input in its own transaction or in that of a batch. */
  together(db: Db, input: Input): Promise<Written>;
};

/**
 * `write` takes all inputs by one statement, whose results have their order; it evaluates `lockTimeout`, where it is
 * given, before it waits for a lock.
 */
export function batchedWrite<Input, Written>(
  most: number,
  sizeOf: (input: Input) => number,
  write: (db: Db, inputs: readonly Input[], lockTimeout?: string) => Promise<Written[]>,
): BatchedWrite<Input, Written> {
  async function alone(db: Db, input: Input): Promise<Written> {
    try {
      const [written] = await write(db, [input]);
      if (written === undefined) throw new Error('an insert returns its row');
      return written;
    } catch (error) {
      throw translateDatabaseError(error);
    }
  }
  const batched = batch<Db, Input, Written>(most, (db, inputs) => write(db, inputs, SHORT_LOCK_TIMEOUT), {
    apart(db, inputs, error) {
      if (!isRolledBack(error)) throw translateDatabaseError(error);
      return inputs.map((input) => alone(db, input));
    },
  });
  return {
    alone,
    together: (db, input) => (sizeOf(input) > LARGE_INPUT ? alone(db, input) : batched(db, input)),
  };
}
