/** Kysely on our pools: its statements are counted, and the connections of a pool are shared among callers. */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  AbortedTransactionError,
  type BinaryOperationNode,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  OperatorNode,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  PrimitiveValueListNode,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';
import { monotonic } from '../../clock.ts';
import { holdForRequest, type Share } from '../../fair-share.ts';
import type { Pool, ReservedConnection } from './pool.ts';

export type PoolUse = { name: string; size: number; statements: number; milliseconds: number };

/** Set within a transaction: a statement beside it must not wait for the slot that the transaction itself has. */
export const withinTransaction = new AsyncLocalStorage<true>();

/** What a pool is used through: each statement and each transaction has a connection of its own, and a place of the share. */
export function dialectOf(pool: Pool, use: PoolUse, share?: Share): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new PoolDriver(pool, use, share),
    createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
    createQueryCompiler: () => new Compiler(),
  };
}

/**
 * Shorter lists stay values of their own: PostgreSQL plans those once for all, and an array that it does not know anew
 * each time. A longer one is an array, since a statement takes so many values only.
 */
const SHORT_LIST = 100;

class Compiler extends PostgresQueryCompiler {
  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    const { leftOperand, operator, rightOperand } = node;
    const name = OperatorNode.is(operator) ? operator.operator : undefined;
    const isLong = PrimitiveValueListNode.is(rightOperand) && rightOperand.values.length > SHORT_LIST;
    if (!isLong || (name !== 'in' && name !== 'not in')) {
      super.visitBinaryOperation(node);
      return;
    }
    this.visitNode(leftOperand);
    this.append(name === 'in' ? ' = any(' : ' <> all(');
    this.appendValue(rightOperand.values);
    this.append(')');
  }
}

class PoolDriver implements Driver {
  readonly #pool: Pool;
  readonly #use: PoolUse;
  readonly #share: Share | undefined;

  constructor(pool: Pool, use: PoolUse, share: Share | undefined) {
    this.#pool = pool;
    this.#use = use;
    this.#share = share;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<CountedConnection> {
    const giveBack = withinTransaction.getStore() ? undefined : await this.#share?.take();
    try {
      return new CountedConnection(await this.#pool.reserve(), this.#use, giveBack);
    } catch (error) {
      giveBack?.();
      throw error;
    }
  }

  async releaseConnection({ reserved, giveBack }: CountedConnection): Promise<void> {
    reserved.release();
    giveBack?.();
  }

  async beginTransaction(
    connection: CountedConnection,
    { isolationLevel, accessMode }: TransactionSettings,
  ): Promise<void> {
    const level = isolationLevel ? ` isolation level ${isolationLevel}` : '';
    await connection.ask(`begin${level}${accessMode ? ` ${accessMode}` : ''}`);
  }

  /** The server undoes a transaction in which a statement failed, and says no more than that. */
  async commitTransaction(connection: CountedConnection): Promise<void> {
    if ((await connection.ask('commit')) === 'ROLLBACK') throw new AbortedTransactionError();
  }

  /** Fails only where the connection is gone, and the transaction with it: the first error is the one that leaves. */
  async rollbackTransaction(connection: CountedConnection): Promise<void> {
    await connection.ask('rollback').catch(() => undefined);
  }

  async destroy(): Promise<void> {
    await this.#pool.end();
  }
}

/**
 * Counts statements and their time. Kysely's own log writes a function into each connection that it is given, which the
 * engine makes an old object at once: each transaction would stay in memory until the whole heap is collected.
 */
class CountedConnection implements DatabaseConnection {
  readonly reserved: ReservedConnection;
  readonly #use: PoolUse;
  /** Gives back the place of the share. */
  readonly giveBack: (() => void) | undefined;

  constructor(reserved: ReservedConnection, use: PoolUse, giveBack: (() => void) | undefined) {
    this.reserved = reserved;
    this.#use = use;
    this.giveBack = giveBack;
  }

  /** What the server says of a statement without rows. */
  async ask(text: string): Promise<string> {
    const { tag } = await this.#run(text, []);
    return tag;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { rows, tag } = await this.#run(sql, parameters);
    const changed = /^(?:INSERT|UPDATE|DELETE|MERGE) .*?(\d+)$/.exec(tag)?.[1];
    return { rows: rows as R[], ...(changed !== undefined && { numAffectedRows: BigInt(changed) }) };
  }

  async #run(text: string, parameters: readonly unknown[]) {
    const begin = monotonic();
    try {
      const result = await this.reserved.run(text, parameters, true);
      holdForRequest(sizeOf(result.rows));
      return result;
    } finally {
      this.#use.statements += 1;
      this.#use.milliseconds += monotonic() - begin;
    }
  }

  streamQuery(): never {
    throw new Error('rows are read as a whole: a page has few');
  }
}

/** Bytes of the texts in the rows, of which large rows consist. */
function sizeOf(rows: readonly Record<string, unknown>[]): number {
  let bytes = 0;
  for (const row of rows) {
    for (const column in row) {
      const value = row[column];
      if (typeof value === 'string' || Buffer.isBuffer(value)) bytes += value.length;
    }
  }
  return bytes;
}
