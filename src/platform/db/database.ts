/** Connections: the two pools, the Db type that every query takes first, and the conversions of PostgreSQL's types. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { userInfo } from 'node:os';
import {
  type AbortableOperationOptions,
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  type QueryResult,
} from 'kysely';
import { PostgresJSDialect } from 'kysely-postgres-js';
import type postgres from 'postgres';
import { monotonic } from '../clock.ts';
import { createShare, holdForRequest, type Share } from '../fair-share.ts';
import { driver } from './driver.ts';
import { translateDatabaseError } from './errors.ts';
import type { Tables } from './rows.ts';

/** A pool or a transaction: the same type, always the first argument. */
export type Db = Kysely<Tables>;

export type PoolUse = { name: string; size: number; statements: number; milliseconds: number };

export type Database = {
  /** For requests: a statement that runs too long is cut off and answered with 503. */
  db: Db;
  /** For jobs and the relay: no hurry. */
  background: Db;
  /** The driver itself, for the few statements that Kysely would only rebuild. */
  sql: postgres.Sql;
  /**
   * One connection for point reads: what finds a row or a few by a unique index and waits for nobody. Those of all
   * callers travel together, for one write and one read of the socket; what is slow or writes would hold them all up.
   */
  points: postgres.Sql;
  /**
   * Two connections for what comes in by the thousand and is written together, found by unique indexes: processes of the
   * database that keep their plans, whatever the size that tables had when they were made.
   */
  intake: postgres.Sql;
  uses(): PoolUse[];
  /** For a process of ours that connects by itself. */
  target: ConnectionTarget;
  close(): Promise<void>;
};

/** A URL, or the options of the embedded server (socket folder, user, password). */
export type ConnectionTarget =
  | string
  | { host: string; port?: number; user: string; password: string; database: string };

/**
 * The target as both drivers understand it. A URL may name the folder of a Unix socket, as libpq's may
 * (`postgres://user@/database?host=/var/run/postgresql`): one driver would take that for a setting of the server.
 */
export function connectionTo(target: ConnectionTarget): ConnectionTarget {
  const url = typeof target === 'string' ? parseConnectionUrl(target) : undefined;
  const host = url?.searchParams.get('host');
  if (!url || !host) return target;
  const user = decodeURIComponent(url.username) || process.env.PGUSER || userInfo().username;
  return {
    host,
    port: Number(url.searchParams.get('port') || url.port || 5432),
    user,
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)) || user,
  };
}

/** Also without a host, which is how a socket's URL may be written; null for several hosts. */
export const parseConnectionUrl = (text: string): URL | null =>
  URL.parse(text.replace(/^(\w+:\/\/(?:[^/@]*@)?)(?=\/)/, '$1localhost'));

/** int8 as a number, refused past 2^53 rather than rounded. */
function parseBigint(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`integer out of range: ${text}`);
  return value;
}

/** The driver leaves it to the engine, which takes years below 100 for others, or for none. Sessions are in UTC. */
const parseInstant = (text: string): Date =>
  new Date(text.endsWith('+00') ? `${text.slice(0, -3).replace(' ', 'T')}Z` : text);

const types = {
  bigint: { to: 20, from: [20], parse: parseBigint, serialize: (value: number) => String(value) },
  /** Dates without a time stay text, `YYYY-MM-DD`: a Date would move them with the time zone. */
  date: { to: 1082, from: [1082], parse: (text: string) => text, serialize: (value: string) => value },
  instant: {
    to: 1184,
    from: [1184],
    parse: parseInstant,
    serialize: (value: Date | string) => new Date(value).toISOString(),
  },
  numeric: { to: 1700, from: [1700], parse: Number, serialize: String },
};

/** One pool of the driver. `statementTimeout` in milliseconds; zero for none. */
export function connect(
  target: ConnectionTarget,
  options: { max: number; statementTimeout: number; name: string; planOnce?: boolean; byIndex?: boolean },
): postgres.Sql {
  const shared = {
    max: options.max,
    idle_timeout: 60,
    connect_timeout: 10,
    onnotice: () => {},
    types,
    connection: {
      application_name: `ashlar ${options.name}`,
      TimeZone: 'UTC',
      statement_timeout: options.statementTimeout,
      idle_in_transaction_session_timeout: 60_000,
      // What is found by a key is found the same way whatever the key.
      ...(options.planOnce && { plan_cache_mode: 'force_generic_plan' }),
      // Tables that are small now may be large before anybody plans anew.
      ...(options.byIndex && { enable_seqscan: 'off' }),
    },
  };
  const to = connectionTo(target);
  // The driver infers a type per custom converter; callers only ever use the plain one.
  return (typeof to === 'string'
    ? driver(to, shared)
    : driver({ ...shared, ...to })) as unknown as postgres.Sql;
}

/**
 * Seconds. Nobody waits any more, but a statement whose client hung up may still run, and of the connection that it holds
 * the driver does not notice when it is given back.
 */
const CLOSING_TIMEOUT_SECONDS = 1;

/**
 * How callers share the pool of requests: those that the driver itself is asked for are left out. A caller's part
 * keeps the cores of a small machine busy, and is what its rows may take of the memory at once. A wait is longer than most statements, and shorter than their limit.
 */
function connectionShare(size: number): Share {
  const places = Math.max(1, size - 2);
  const perCaller = Math.ceil(places / 4);
  const waits = { waitingPerCaller: 1_000, waiting: 2_000, timeoutMs: 10_000 };
  return createShare({ of: 'database connections', places, perCaller, ...waits });
}

/** Set within a transaction: what is asked beside it must not wait for a place that the transaction itself holds. */
const withinTransaction = new AsyncLocalStorage<true>();

/**
 * Its connections count what they are asked, and are shared among callers where a share is given. A rollback fails only where the connection is gone, and the transaction with it. Kysely would then ask for a method that
 * this driver's connections do not have, and tell of that instead of what went wrong first.
 */
class Dialect extends PostgresJSDialect {
  readonly #use: PoolUse;
  readonly #share: Share | undefined;

  constructor(sql: postgres.Sql, use: PoolUse, share: Share | undefined) {
    super({ postgres: sql });
    this.#use = use;
    this.#share = share;
  }

  override createDriver(): Driver {
    const driver = super.createDriver();
    const acquire = driver.acquireConnection.bind(driver);
    const release = driver.releaseConnection.bind(driver);
    return Object.assign(driver, {
      acquireConnection: async (options?: AbortableOperationOptions) => {
        const giveBack = withinTransaction.getStore() ? undefined : await this.#share?.take();
        try {
          return new CountedConnection(await acquire(options), this.#use, giveBack);
        } catch (error) {
          giveBack?.();
          throw error;
        }
      },
      async releaseConnection({ inner, giveBack }: CountedConnection) {
        try {
          await release(inner);
        } finally {
          giveBack?.();
        }
      },
      async rollbackTransaction(connection: DatabaseConnection) {
        await connection.executeQuery(CompiledQuery.raw('rollback')).catch(() => undefined);
      },
    });
  }
}

/**
 * Counts statements and their time. Kysely's own log writes a function into each connection that it is given, which the
 * engine makes an old object at once: each transaction would stay in memory until the whole heap is collected.
 */
class CountedConnection implements DatabaseConnection {
  readonly inner: DatabaseConnection;
  readonly #use: PoolUse;
  /** Gives back the place of the share. */
  readonly giveBack: (() => void) | undefined;

  constructor(inner: DatabaseConnection, use: PoolUse, giveBack: (() => void) | undefined) {
    this.inner = inner;
    this.#use = use;
    this.giveBack = giveBack;
  }

  async executeQuery<R>(query: CompiledQuery, options?: AbortableOperationOptions): Promise<QueryResult<R>> {
    const begin = monotonic();
    try {
      const result = await this.inner.executeQuery<R>(query, options);
      holdForRequest(sizeOf(result.rows));
      return result;
    } finally {
      this.#use.statements += 1;
      this.#use.milliseconds += monotonic() - begin;
    }
  }

  streamQuery<R>(
    query: CompiledQuery,
    size: number,
    options?: AbortableOperationOptions,
  ): AsyncIterableIterator<QueryResult<R>> {
    return this.inner.streamQuery<R>(query, size, options);
  }
}

/** Bytes of the texts in the rows, of which large rows consist. */
function sizeOf(rows: readonly unknown[]): number {
  let bytes = 0;
  for (const row of rows as readonly Record<string, unknown>[]) {
    for (const column in row) {
      const value = row[column];
      if (typeof value === 'string' || Buffer.isBuffer(value)) bytes += value.length;
    }
  }
  return bytes;
}

/** Of a request, in milliseconds. */
const STATEMENT_TIMEOUT_MS = 15_000;

/** Opens both pools and the connection for points; nothing is sent before the first statement. */
export function openDatabase(target: ConnectionTarget, sizes = { requests: 16, background: 4 }): Database {
  const pools = [
    {
      name: 'requests',
      size: sizes.requests,
      statementTimeout: STATEMENT_TIMEOUT_MS,
      share: connectionShare(sizes.requests),
    },
    { name: 'background', size: sizes.background, statementTimeout: 0, share: undefined },
  ].map((pool) => {
    const sql = connect(target, { max: pool.size, statementTimeout: pool.statementTimeout, name: pool.name });
    const use: PoolUse = { name: pool.name, size: pool.size, statements: 0, milliseconds: 0 };
    const db = new Kysely<Tables>({ dialect: new Dialect(sql, use, pool.share) });
    return { sql, db, use };
  });
  const points = connect(target, {
    max: 1,
    statementTimeout: STATEMENT_TIMEOUT_MS,
    name: 'points',
    planOnce: true,
  });
  const intake = connect(target, {
    max: 2,
    statementTimeout: STATEMENT_TIMEOUT_MS,
    name: 'intake',
    planOnce: true,
    byIndex: true,
  });
  const [requests, background] = pools;
  if (!requests || !background) throw new Error('two pools expected');
  return {
    db: requests.db,
    background: background.db,
    sql: requests.sql,
    points,
    intake,
    target,
    uses: () => pools.map((pool) => pool.use),
    close: async () => {
      await Promise.all(
        [points, intake, ...pools.map((pool) => pool.sql)].map((sql) =>
          sql.end({ timeout: CLOSING_TIMEOUT_SECONDS }),
        ),
      );
    },
  };
}

/**
 * Runs `work` in one transaction. Constraint violations leave as the Failure that the client should read; a deadlock or
 * a serialisation failure is tried again, at most twice.
 */
export async function inTransaction<T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction().execute((tx) => withinTransaction.run(true, () => work(tx)));
    } catch (error) {
      const code = (error as { code?: unknown }).code;
      if (attempt < 3 && (code === '40P01' || code === '40001')) continue;
      throw translateDatabaseError(error);
    }
  }
}

/** Whether the database answers, and in how many milliseconds. */
export async function pingDatabase(sql: postgres.Sql): Promise<number> {
  const start = monotonic();
  await sql`select 1`;
  return monotonic() - start;
}
