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
  type KyselyPlugin,
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

/** Statements of a transaction that the caller does not wait for. */
const sentAhead = new WeakSet<CompiledQuery['queryId']>();

const marking: KyselyPlugin = {
  transformQuery({ node, queryId }) {
    sentAhead.add(queryId);
    return node;
  },
  transformResult: async ({ result }) => result,
};

/**
 * The transaction for statements whose result nobody needs: they are sent, and the answer is not waited for. They cost no
 * round trip, and the transaction fails with them, at the next statement or at its end.
 */
export const ahead = <DB>(tx: Kysely<DB>): Kysely<DB> => tx.withPlugin(marking);

/** Sends a compiled statement ahead. */
export async function sendAhead<DB>(tx: Kysely<DB>, query: CompiledQuery): Promise<void> {
  sentAhead.add(query.queryId);
  await tx.executeQuery(query);
}

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
    connection.begin(`begin${level}${accessMode ? ` ${accessMode}` : ''}`);
  }

  /** The server undoes a transaction in which a statement failed, and says no more than that. */
  async commitTransaction(connection: CountedConnection): Promise<void> {
    if ((await connection.ask('commit')) === 'ROLLBACK')
      throw connection.failure ?? new AbortedTransactionError();
  }

  /** Fails only where the connection is gone, and the transaction with it: the first error is the one that leaves. */
  async rollbackTransaction(connection: CountedConnection): Promise<void> {
    await connection.ask('rollback').catch(() => undefined);
  }

  async destroy(): Promise<void> {
    await this.#pool.end();
  }
}

const IN_FAILED_TRANSACTION = '25P02';

/**
 * Counts statements and their time. Kysely's own log writes a function into each connection that it is given, which the
 * engine makes an old object at once: each transaction would stay in memory until the whole heap is collected.
 */
class CountedConnection implements DatabaseConnection {
  readonly reserved: ReservedConnection;
  readonly #use: PoolUse;
  /** Gives back the place of the share. */
  readonly giveBack: (() => void) | undefined;
  #isInTransaction = false;
  /** The first. Because of it, the server refuses what follows in the transaction. */
  failure: unknown;

  constructor(reserved: ReservedConnection, use: PoolUse, giveBack: (() => void) | undefined) {
    this.reserved = reserved;
    this.#use = use;
    this.giveBack = giveBack;
  }

  begin(text: string): void {
    this.#isInTransaction = true;
    this.reserved.begin(text);
  }

  /** What the server says of a statement without rows. */
  async ask(text: string): Promise<string> {
    const { tag } = await this.#run(text, []);
    return tag;
  }

  async executeQuery<R>({ sql, parameters, queryId }: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#isInTransaction && sentAhead.has(queryId)) {
      await new Promise<void>((resolve, reject) => {
        this.#run(sql, parameters, resolve).catch(reject);
      });
      return { rows: [] };
    }
    const { rows, tag } = await this.#run(sql, parameters);
    const changed = /^(?:INSERT|UPDATE|DELETE|MERGE) .*?(\d+)$/.exec(tag)?.[1];
    return { rows: rows as R[], ...(changed !== undefined && { numAffectedRows: BigInt(changed) }) };
  }

  async #run(text: string, parameters: readonly unknown[], sent?: () => void) {
    const begin = monotonic();
    try {
      const result = await this.reserved.run(text, parameters, true, sent);
      holdForRequest(sizeOf(result.rows));
      // A savepoint undoes the failure: the transaction goes on.
      if (text.startsWith('rollback to')) this.failure = undefined;
      return result;
    } catch (error) {
      this.failure ??= error;
      throw (error as { code?: unknown }).code === IN_FAILED_TRANSACTION ? this.failure : error;
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
