/** Statements as tagged templates: values become parameters, and statements and names among them become parts of the text. */
import type { Executor, Pool, Watcher } from './pool.ts';
import type { Row } from './statement.ts';
import { JsonValue } from './values.ts';

/** The parameters of a statement: values, names by `sql('name')`, JSON by `sql.json()`, and other statements as parts. */
export type Parameter = string | number | bigint | boolean | object | null;

export type Sql = {
  <Rows extends readonly object[] = Row[]>(
    text: TemplateStringsArray,
    ...values: Parameter[]
  ): PendingQuery<Rows>;
  /** A name of a table or a column, quoted. */
  (name: string): Name;
  /** A value as jsonb, where the text does not say it. */
  json(value: unknown): JsonValue;
  /** A text as it stands, with parameters `$1` and so on; without any it may be several statements, or a part of one. */
  unsafe<Rows extends readonly object[] = Row[]>(
    text: string,
    parameters?: readonly Parameter[],
    options?: { prepare: boolean },
  ): PendingQuery<Rows>;
};

/** The statements of a pool. */
export type PoolSql = Sql & {
  /** Runs `work` in one transaction. A statement that fails ends it, even where `work` catches the error. */
  begin<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
  /** A connection for the caller alone, until it is released. */
  reserve(): Promise<Sql & { release(): void }>;
  /** Refuses new statements, and closes when the pending ones have ended, or after so many seconds. */
  end(options?: { timeout?: number }): Promise<void>;
  /** Calls `seen` for each statement from now on. */
  watch(seen: Watcher): void;
};

class Name {
  readonly text: string;

  constructor(name: string) {
    this.text = `"${name.replace(/"/g, '""').replace(/\./g, '"."')}"`;
  }
}

/** A statement that is sent when it is awaited: until then it may be a part of another. */
export class PendingQuery<Rows> implements Promise<Rows> {
  readonly #executor: Executor;
  readonly #text: TemplateStringsArray | string;
  readonly #values: readonly Parameter[];
  readonly #prepare: boolean;
  #rows: Promise<Rows> | undefined;

  constructor(
    executor: Executor,
    text: TemplateStringsArray | string,
    values: readonly Parameter[],
    prepare: boolean,
  ) {
    this.#executor = executor;
    this.#text = text;
    this.#values = values;
    this.#prepare = prepare;
  }

  get [Symbol.toStringTag](): string {
    return 'PendingQuery';
  }

  // biome-ignore lint/suspicious/noThenProperty: as with Kysely's, to wait for a statement is to send it.
  then<A = Rows, B = never>(
    kept?: ((rows: Rows) => A | PromiseLike<A>) | null,
    failed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#send().then(kept, failed);
  }

  catch<B = never>(failed?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<Rows | B> {
    return this.#send().catch(failed);
  }

  finally(done?: (() => void) | null): Promise<Rows> {
    return this.#send().finally(done);
  }

  #send(): Promise<Rows> {
    this.#rows ??= this.#run();
    return this.#rows;
  }

  async #run(): Promise<Rows> {
    const values: Parameter[] = [];
    const { rows } = await this.#executor.run(this.write(values), values, this.#prepare);
    return rows as Rows;
  }

  /** Its text, with its parameters after those that are there already. */
  write(values: Parameter[]): string {
    if (typeof this.#text === 'string') {
      if (this.#values.length > 0 && values.length > 0) throw new Error('its parameters would be others');
      values.push(...this.#values);
      return this.#text;
    }
    let text = this.#text[0] ?? '';
    for (const [place, value] of this.#values.entries()) {
      if (value instanceof Name) text += value.text;
      else if (value instanceof PendingQuery) text += value.write(values);
      else text += `$${values.push(value)}`;
      text += this.#text[place + 1] ?? '';
    }
    return text;
  }
}

/** Statements of a pool, or of a connection that was checked out of it. */
function sqlOf(executor: Executor): Sql {
  function sql(text: TemplateStringsArray | string, ...values: Parameter[]): PendingQuery<Row[]> | Name {
    return typeof text === 'string' ? new Name(text) : new PendingQuery<Row[]>(executor, text, values, true);
  }
  const more: Pick<Sql, 'json' | 'unsafe'> = {
    json: (value) => new JsonValue(value),
    unsafe: (text, parameters = [], { prepare } = { prepare: false }) =>
      new PendingQuery(executor, text, parameters, prepare),
  };
  return Object.assign(sql, more) as Sql;
}

export function sqlOfPool(pool: Pool): PoolSql {
  const more: Pick<PoolSql, 'begin' | 'reserve' | 'end' | 'watch'> = {
    begin: (work) => inTransactionOf(pool, work),
    reserve: async () => {
      const reserved = await pool.reserve();
      return Object.assign(sqlOf(reserved), { release: reserved.release });
    },
    end: (options) => pool.end(options),
    watch: (seen) => pool.watch(seen),
  };
  return Object.assign(sqlOf(pool), more);
}

async function inTransactionOf<T>(pool: Pool, work: (tx: Sql) => Promise<T>): Promise<T> {
  const reserved = await pool.reserve();
  let failure: { error: unknown } | undefined;
  const run: Executor['run'] = async (text, values, prepare) => {
    try {
      return await reserved.run(text, values, prepare);
    } catch (error) {
      failure ??= { error };
      throw error;
    }
  };
  try {
    reserved.begin('begin');
    const result = await work(sqlOf({ run }));
    // The server would roll back and answer as for a commit.
    if (failure) throw failure.error;
    await reserved.run('commit', [], true);
    return result;
  } catch (error) {
    await reserved.run('rollback', [], true).catch(() => undefined);
    throw error;
  } finally {
    reserved.release();
  }
}
