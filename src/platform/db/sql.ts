/** Statements as tagged templates: values become parameters, and what was written by itself becomes a part of the text. */
import type { Executor, Pool, Watcher } from './pool.ts';
import type { Row } from './statement.ts';
import { JsonValue } from './values.ts';

/** What a statement may be given: values, names by `sql('name')`, JSON by `sql.json()`, and other statements as parts. */
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

/** A pool as it is asked. */
export type PoolSql = Sql & {
  /** Runs `work` in one transaction. A statement of it that fails ends it, whoever caught the error. */
  begin<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
  /** A connection of one's own until it is released. */
  reserve(): Promise<Sql & { release(): void }>;
  /** Refuses what is asked from now on, and closes when all is answered, or after so many seconds. */
  end(options?: { timeout?: number }): Promise<void>;
  /** Tells of each statement from now on, whoever asks for it. */
  watch(seen: Watcher): void;
};

class Name {
  readonly text: string;

  constructor(name: string) {
    this.text = `"${name.replace(/"/g, '""').replace(/\./g, '"."')}"`;
  }
}

/** A statement that is sent when somebody waits for it: until then it may be a part of another. */
export class PendingQuery<Rows> implements Promise<Rows> {
  readonly #asker: Executor;
  readonly #text: TemplateStringsArray | string;
  readonly #values: readonly Parameter[];
  readonly #prepare: boolean;
  #rows: Promise<Rows> | undefined;

  constructor(
    asker: Executor,
    text: TemplateStringsArray | string,
    values: readonly Parameter[],
    prepare: boolean,
  ) {
    this.#asker = asker;
    this.#text = text;
    this.#values = values;
    this.#prepare = prepare;
  }

  get [Symbol.toStringTag](): string {
    return 'Asked';
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
    const { rows } = await this.#asker.run(this.write(values), values, this.#prepare);
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
function sqlOf(asker: Executor): Sql {
  function sql(text: TemplateStringsArray | string, ...values: Parameter[]): PendingQuery<Row[]> | Name {
    return typeof text === 'string' ? new Name(text) : new PendingQuery<Row[]>(asker, text, values, true);
  }
  const more: Pick<Sql, 'json' | 'unsafe'> = {
    json: (value) => new JsonValue(value),
    unsafe: (text, parameters = [], { prepare } = { prepare: false }) =>
      new PendingQuery(asker, text, parameters, prepare),
  };
  return Object.assign(sql, more) as Sql;
}

export function sqlOfPool(pool: Pool): PoolSql {
  const more: Pick<PoolSql, 'begin' | 'reserve' | 'end' | 'watch'> = {
    begin: (work) => inTransactionOf(pool, work),
    reserve: async () => {
      const lease = await pool.reserve();
      return Object.assign(sqlOf(lease), { release: lease.release });
    },
    end: (options) => pool.end(options),
    watch: (seen) => pool.watch(seen),
  };
  return Object.assign(sqlOf(pool), more);
}

async function inTransactionOf<T>(pool: Pool, work: (tx: Sql) => Promise<T>): Promise<T> {
  const lease = await pool.reserve();
  let failure: { error: unknown } | undefined;
  const run: Executor['run'] = async (text, values, prepare) => {
    try {
      return await lease.run(text, values, prepare);
    } catch (error) {
      failure ??= { error };
      throw error;
    }
  };
  try {
    await lease.run('begin', [], true);
    const result = await work(sqlOf({ run }));
    // The server would undo it without a word.
    if (failure) throw failure.error;
    await lease.run('commit', [], true);
    return result;
  } catch (error) {
    await lease.run('rollback', [], true).catch(() => undefined);
    throw error;
  } finally {
    lease.release();
  }
}
