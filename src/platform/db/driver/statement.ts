/** One statement on its way: what pg's client sends for it, and what becomes of the answers. */
import { type Connection, type FieldDef, Query } from 'pg';
import { bind } from './bind.ts';
import { comesAsBytes, type Reader, readerOf } from './values.ts';

// biome-ignore lint/suspicious/noExplicitAny: a caller that does not say what its rows are reads them as it likes.
export type Row = Record<string, any>;

export type Result = {
  rows: Row[];
  /** What the server says of a statement that is done: `INSERT 0 5`. */
  tag: string;
};

type Column = { name: string; read: Reader };

/** A row of nulls: rows that are copied from it have their properties from the start, instead of one after the other. */
const emptyRow = (columns: readonly Column[]): Row =>
  Object.fromEntries(columns.map(({ name }) => [name, null]));

let names = 0;

/** A text with the types that its values have by themselves, and the server's description of both. */
export class Prepared {
  /** What servers know it by. */
  name = `s${++names}`;
  readonly text: string;
  readonly declared: readonly number[];
  /** Of all its parameters; undefined until a server has described them. */
  types: readonly number[] | undefined;
  columns: readonly Column[] = [];
  emptyRow: Row = {};
  /** Of its columns: 1 where the bytes come as they are, in place of text. None where all come as text. */
  formats: readonly number[] = [];

  constructor(text: string, declared: readonly number[]) {
    this.text = text;
    this.declared = declared;
  }

  describe(types: readonly number[], fields: readonly FieldDef[]): void {
    this.columns = fields.map(({ name, dataTypeID }) => ({
      name,
      read: readerOf(dataTypeID, comesAsBytes(dataTypeID)),
    }));
    this.emptyRow = emptyRow(this.columns);
    const formats = fields.map(({ dataTypeID }) => (comesAsBytes(dataTypeID) ? 1 : 0));
    this.formats = formats.includes(1) ? formats : [];
    this.types = types;
  }

  /** The tables have changed since: it is described again, under another name. */
  forget(): void {
    this.name = `s${++names}`;
    this.types = undefined;
  }
}

/** Where a statement is sent, as far as it knows it. */
export type StatementConnection = {
  /** Whether the server of this connection knows statements by names. */
  readonly named: boolean;
  /** Records that the server learns the name of a text of this length now; whether it knew it already. */
  learn(name: string, length: number): boolean;
  forget(name: string): void;
  /** The types of the parameters that were described last. */
  described(): readonly number[];
  ask(statement: Statement): void;
  /** A statement that was never sent is done with. */
  settle(): void;
  /** The BEGIN that goes before the next message to the server, once. */
  takeBegin(): string | undefined;
  /** The server has begun the transaction, or will not. */
  begun(error?: Error): void;
};

/** What pg has and its declarations have otherwise. */
declare module 'pg' {
  interface Connection {
    bind(what: object): void;
    execute(what: object): void;
    parse(statement: { name: string; text: string; types: readonly number[] }): void;
    describe(what: { type: 'S'; name: string }): void;
    sendCopyFail(reason: string): void;
  }
}

/** An error of the database, or of the connection to it, has a code; pg gives none to those of its own. */
export const withCode = (error: Error, code: string): Error & { code: string } =>
  'code' in error && typeof error.code === 'string'
    ? (error as Error & { code: string })
    : Object.assign(new Error(`${code}: ${error.message}`, { cause: error }), { code });

/** A row as it came, in the middle of other messages. */
export type RawRow = { bytes: Buffer; start: number };

/**
 * The interface of a query for pg's client, which in pipelines takes its own class alone; that class would set up events
 * and a result that are not used here.
 */
export abstract class Exchange {
  #carrier: StatementConnection | undefined;
  /** Why it could not be written. */
  protected refusal: unknown;
  /** Whether a BEGIN went before it, which the server has not answered. */
  #begins = false;

  /** Hands it to the client of a connection. */
  by(carrier: StatementConnection): this {
    this.#carrier = carrier;
    return this;
  }

  get carrier(): StatementConnection {
    if (!this.#carrier) throw new Error('a statement was sent without a connection');
    return this.#carrier;
  }

  /** Writes it; returns what is wrong with it where nothing was written. */
  submit(connection: Connection): Error | null {
    try {
      this.send(connection);
      return null;
    } catch (error) {
      this.refusal = error;
      return error as Error;
    }
  }

  protected abstract send(connection: Connection): void;

  /**
   * Writes the BEGIN of the transaction that starts with it. Without a Sync between both, the server skips the rest where
   * the BEGIN fails: nothing of a transaction is ever done outside of it.
   */
  protected sendBegin(connection: Connection): void {
    const text = this.takeBegin();
    if (text === undefined) return;
    connection.parse({ name: '', text, types: [] });
    connection.bind({});
    connection.execute({});
  }

  protected takeBegin(): string | undefined {
    const text = this.carrier.takeBegin();
    this.#begins = text !== undefined;
    return text;
  }

  /** Called with an error, or when the first command is done. */
  #answerBegin(error?: Error): void {
    if (!this.#begins) return;
    this.#begins = false;
    this.carrier.begun(error);
  }

  abstract handleRowDescription(message: { fields: FieldDef[] }): void;
  abstract handleReadyForQuery(): void;
  protected abstract fail(error: Error): void;

  handleError(error: Error): void {
    this.#answerBegin(error);
    this.fail(error);
  }

  protected complete(_tag: string): void {}

  handleCommandComplete({ text }: { text: string }): void {
    this.#answerBegin();
    this.complete(text);
  }

  handleDataRow(_row: RawRow): void {}
  handleEmptyQuery(): void {}
  handleCopyData(): void {}
  handleCopyInResponse(connection: Connection): void {
    connection.sendCopyFail('nothing to copy');
  }
}
Object.setPrototypeOf(Exchange.prototype, Query.prototype);

/** Asks the server for the types of a statement. */
export class Description extends Exchange {
  readonly #prepared: Prepared;
  readonly #done: (error?: Error) => void;
  #fields: FieldDef[] = [];
  #name = '';

  constructor(prepared: Prepared, done: (error?: Error) => void) {
    super();
    this.#prepared = prepared;
    this.#done = done;
  }

  protected send(connection: Connection): void {
    const { name, text, declared } = this.#prepared;
    this.#name = this.carrier.named ? name : '';
    this.sendBegin(connection);
    connection.parse({ name: this.#name, text, types: declared });
    connection.describe({ type: 'S', name: this.#name });
    connection.sync();
  }

  handleRowDescription({ fields }: { fields: FieldDef[] }): void {
    this.#fields = fields;
  }

  handleReadyForQuery(): void {
    this.#prepared.describe(this.carrier.described(), this.#fields);
    if (this.#name !== '') this.carrier.learn(this.#name, this.#prepared.text.length);
    this.#done();
  }

  protected fail(error: Error): void {
    this.#done(error);
  }
}

/** Errors of a prepared statement that is out of date or gone, by the server's routine. */
const outOfDate: ReadonlySet<unknown> = new Set([
  'FetchPreparedStatement',
  'RevalidateCachedQuery',
  'transformAssignedExpr',
]);

type StatementCallbacks = {
  resolve(result: Result): void;
  reject(error: unknown): void;
  /** Called when it is written. */
  sent: (() => void) | undefined;
};

/**
 * Sends a statement and gathers its rows. A mere text may be several statements; of those with rows, the last one's are
 * told.
 */
export class Statement extends Exchange {
  readonly what: Prepared | string;
  readonly #values: readonly unknown[];
  readonly #resolve: (result: Result) => void;
  readonly #reject: (error: unknown) => void;
  readonly #sent: (() => void) | undefined;
  /** Whether its answer is not waited for. */
  readonly isAhead: boolean;
  #columns: readonly Column[] = [];
  #emptyRow: Row = {};
  #rows: Row[] = [];
  #tag = '';
  /** The name that it was sent by. */
  #name = '';
  /** Whether the server had to learn it. */
  #isNew = false;
  /** Why its rows cannot be read. */
  #unreadable: unknown;
  /** Why it was sent again. */
  #before: Error | undefined;

  constructor(
    what: Prepared | string,
    values: readonly unknown[],
    { resolve, reject, sent }: StatementCallbacks,
  ) {
    super();
    this.what = what;
    this.#values = values;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#sent = sent;
    this.isAhead = sent !== undefined;
  }

  protected send(connection: Connection): void {
    const { what, carrier } = this;
    if (typeof what === 'string') {
      const begin = this.takeBegin();
      connection.query(begin === undefined ? what : `${begin};${what}`);
    } else this.#sendPrepared(what, carrier, connection);
    this.#sent?.();
  }

  #sendPrepared(prepared: Prepared, carrier: StatementConnection, connection: Connection): void {
    const { stream } = connection;
    this.#name = carrier.named ? prepared.name : '';
    this.#columns = prepared.columns;
    this.#emptyRow = prepared.emptyRow;
    const formats = carrier.named ? prepared.formats : [];
    const bound = bind(this.#name, this.#values, prepared.types ?? [], {
      formats,
      described: !carrier.named,
    });
    this.sendBegin(connection);
    this.#isNew = !carrier.named || !carrier.learn(this.#name, prepared.text.length);
    if (this.#isNew) {
      // One that failed before may have left the name.
      if (carrier.named) connection.close({ type: 'S', name: this.#name });
      connection.parse({ name: this.#name, text: prepared.text, types: prepared.declared });
    }
    if (!stream.writable) return;
    for (const part of bound) stream.write(part);
  }

  handleRowDescription({ fields }: { fields: FieldDef[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({ name, read: readerOf(dataTypeID, false) }));
    this.#emptyRow = emptyRow(this.#columns);
    this.#rows = [];
  }

  override handleDataRow({ bytes, start }: RawRow): void {
    const row: Row = { ...this.#emptyRow };
    let at = start + 7;
    try {
      for (const { name, read } of this.#columns) {
        const length = bytes.readInt32BE(at);
        at += 4;
        if (length < 0) row[name] = null;
        else {
          row[name] = read(bytes, at, at + length);
          at += length;
        }
      }
      this.#rows.push(row);
    } catch (error) {
      this.#unreadable ??= error;
    }
  }

  protected override complete(tag: string): void {
    this.#tag = tag;
  }

  handleReadyForQuery(): void {
    if (this.#unreadable === undefined) this.#resolve({ rows: this.#rows, tag: this.#tag });
    else this.#reject(this.#unreadable);
  }

  protected fail(error: Error): void {
    const { what, carrier } = this;
    if (error === this.refusal) carrier.settle();
    // In a transaction that has failed the server learns no statement.
    if (this.#isNew && this.#name !== '') carrier.forget(this.#name);
    if (this.#name === '' || this.#before || !('routine' in error) || !outOfDate.has(error.routine)) {
      this.refuse(error);
      return;
    }
    this.#before = error;
    this.#rows = [];
    carrier.forget(this.#name);
    if (what instanceof Prepared && what.name === this.#name) what.forget();
    carrier.ask(this);
  }

  /** Fails the statement. */
  refuse(error: unknown): void {
    this.#rows = [];
    const why = this.#before ?? error;
    this.#reject(why === this.refusal ? why : withCode(why as Error, 'CONNECTION_CLOSED'));
  }
}
