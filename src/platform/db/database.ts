/** Connections: the two pools, the Db type that every query takes first, and how a database is reached. */
import { userInfo } from 'node:os';
import { Kysely, type QueryResult, type RawBuilder, sql } from 'kysely';
import { type ClientConfig, Pool as WorkersPool } from 'pg';
import { monotonic } from '../clock.ts';
import { createShare, type Share } from '../fair-share.ts';
import { type CopyConnection, openCopyConnection } from './driver/copy.ts';
import { dialectOf, type PoolUse, withinTransaction } from './driver/dialect.ts';
import { Pool } from './driver/pool.ts';
import { type PoolSql, type Sql, sqlOfPool } from './driver/sql.ts';
import { translateDatabaseError } from './errors.ts';
import type { Tables } from './rows.ts';

export { ahead, sendAhead } from './driver/dialect.ts';

/** A pool or a transaction: the same type, always the first argument. */
export type Db = Kysely<Tables>;

export type Database = {
  /** For requests: a statement that runs too long is cut off and answered with 503. */
  db: Db;
  /** For jobs and the relay: no hurry. */
  background: Db;
  /** The pool of requests itself, for the few statements that Kysely would only rebuild. */
  sql: PoolSql;
  /**
   * One connection for point reads: what finds a row or a few by a unique index and waits for nobody. Those of all
   * callers travel together, for one write and one read of the socket; what is slow or writes would hold them all up.
   */
  points: PoolSql;
  /**
   * Two connections for what comes in by the thousand and is written together, found by unique indexes: processes of the
   * database that keep their plans, whatever the size that tables had when they were made.
   */
  intake: PoolSql;
  uses(): PoolUse[];
  /** For a process of ours that connects by itself. */
  target: ConnectionTarget;
  close(): Promise<void>;
};

/** A URL, or the options of the embedded server (socket folder, user, password). */
export type ConnectionTarget =
  | string
  | { host: string; port?: number; user: string; password: string; database: string };

/** A mode as `ssl` gives it, for which pg has `sslmode`. */
const sslMode = /([?&])ssl=(?=(?:disable|allow|prefer|require|no-verify|verify-ca|verify-full)(?:&|$))/;

/**
 * The target as pg understands it. A URL may name the folder of a Unix socket, as libpq's may
 * (`postgres://user@/database?host=/var/run/postgresql`), and may leave out the user.
 */
export function connectionTo(target: ConnectionTarget): ConnectionTarget {
  if (typeof target !== 'string') return target;
  const url = parseConnectionUrl(target);
  const host = url?.searchParams.get('host');
  if (!url || !host) return target.replace(sslMode, '$1sslmode=');
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

/** What a URL says to us or to pg; all else in it are settings of the session. */
const ours: ReadonlySet<string> = new Set([
  ...['host', 'port', 'prepare', 'connect_timeout', 'target_session_attrs', 'uselibpqcompat'],
  ...['ssl', 'sslmode', 'sslcert', 'sslkey', 'sslrootcert', 'sslnegotiation'],
]);

type Reached = { config: ClientConfig; settings: Record<string, string>; named: boolean };

function reach(target: ConnectionTarget): Reached {
  const to = connectionTo(target);
  const url = typeof target === 'string' ? parseConnectionUrl(target) : null;
  const settings = Object.fromEntries([...(url?.searchParams ?? [])].filter(([name]) => !ours.has(name)));
  const named = url?.searchParams.get('prepare') !== 'false';
  if (typeof to !== 'string') return { config: to, settings, named };
  const user = encodeURIComponent(userInfo().username);
  const isNamed = process.env.PGUSER !== undefined || /^\w+:\/\/[^/?]*@/.test(to);
  // A mode means what it means to libpq: only the two that verify do.
  const mode = /[?&]sslmode=(require|prefer)(&|$)/.test(to) ? '&uselibpqcompat=true' : '';
  return {
    config: { connectionString: (isNamed ? to : to.replace('//', `//${user}@`)) + mode },
    settings,
    named,
  };
}

/** Milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000;

/** A pool for the job library, which has its own statements; `onError` gets the errors of idle connections. */
export function openWorkersPool(target: ConnectionTarget, onError: (error: Error) => void): WorkersPool {
  const pool = new WorkersPool({ ...reach(target).config, max: 4 });
  pool.on('error', onError);
  pool.on('connect', (client) => client.on('error', onError));
  return pool;
}

type ConnectOptions = {
  max: number;
  /** Milliseconds; zero for none. */
  statementTimeout: number;
  name: string;
  planOnce?: boolean;
  byIndex?: boolean;
};

function openPool(target: ConnectionTarget, options: ConnectOptions): Pool {
  const { config, settings, named } = reach(target);
  return new Pool({
    config: { ...config, connectionTimeoutMillis: CONNECT_TIMEOUT_MS },
    settings: {
      application_name: `ashlar ${options.name}`,
      TimeZone: 'UTC',
      statement_timeout: options.statementTimeout,
      idle_in_transaction_session_timeout: 60_000,
      // What is found by a key is found the same way whatever the key.
      ...(options.planOnce && { plan_cache_mode: 'force_generic_plan' }),
      // Tables that are small now may be large before anybody plans anew.
      ...(options.byIndex && { enable_seqscan: 'off' }),
      ...settings,
    },
    max: options.max,
    named,
  });
}

/** One pool; nothing is sent before the first statement. */
export const connect = (target: ConnectionTarget, options: ConnectOptions): PoolSql =>
  sqlOfPool(openPool(target, options));

/** A connection of its own, on which statements may take as long as they need. */
export const connectToCopy = (target: ConnectionTarget, name: string): Promise<CopyConnection> =>
  openCopyConnection({
    ...reach(target).config,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: `ashlar ${name}`,
  });

/** Seconds. No request waits any more, but a statement whose client hung up may still run. */
const CLOSING_TIMEOUT_SECONDS = 1;

/**
 * How callers share the pool of requests: what is asked without Kysely is left out. A caller's part
 * keeps the cores of a small machine busy, and is what its rows may take of the memory at once. A wait is longer than most statements, and shorter than their limit.
 */
function connectionShare(size: number): Share {
  const places = Math.max(1, size - 2);
  const perCaller = Math.ceil(places / 4);
  const waits = { waitingPerCaller: 1_000, waiting: 2_000, timeoutMs: 10_000 };
  return createShare({ of: 'database connections', places, perCaller, ...waits });
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
    const { name, size, statementTimeout, share } = pool;
    const opened = openPool(target, { max: size, statementTimeout, name });
    const use: PoolUse = { name, size, statements: 0, milliseconds: 0 };
    return {
      sql: sqlOfPool(opened),
      db: new Kysely<Tables>({ dialect: dialectOf(opened, use, share) }),
      use,
    };
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

/** A deadlock, or a serialisation failure. */
const isRepeatable = (error: unknown): boolean =>
  /^(40P01|40001)$/.test(String((error as { code?: unknown }).code));

/**
 * Runs `work` in one transaction. Constraint violations leave as the Failure that the client should read; a deadlock or
 * a serialisation failure is tried again, at most twice. Within a transaction it is a part of it, which fails alone.
 */
export async function inTransaction<T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T> {
  if (db.isTransaction) return inSavepoint(db, work);
  return repeating(() => db.transaction().execute((tx) => withinTransaction.run(true, () => work(tx))));
}

/** One statement outside any transaction, with the errors and the new tries of inTransaction(). */
export const runAlone = <Row>(db: Db, statement: RawBuilder<Row>): Promise<QueryResult<Row>> =>
  repeating(() => statement.execute(db));

async function repeating<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt < 3 && isRepeatable(error)) continue;
      throw translateDatabaseError(error);
    }
  }
}

async function inSavepoint<T>(tx: Db, work: (tx: Db) => Promise<T>): Promise<T> {
  await sql`savepoint part`.execute(tx);
  try {
    const result = await work(tx);
    await sql`release savepoint part`.execute(tx);
    return result;
  } catch (error) {
    // A deadlock takes the whole transaction along, which is tried again.
    if (isRepeatable(error)) throw error;
    await sql`rollback to savepoint part`.execute(tx).catch(() => undefined);
    throw translateDatabaseError(error);
  }
}

/** Whether the database answers, and in how many milliseconds. */
export async function pingDatabase(sql: Sql): Promise<number> {
  const start = monotonic();
  await sql`select 1`;
  return monotonic() - start;
}

/** Whether the database refuses writes. */
export async function isReadOnly(sql: Sql): Promise<boolean> {
  const [row] = await sql<
    { read_only: string }[]
  >`select current_setting('transaction_read_only') as read_only`;
  return row?.read_only === 'on';
}
