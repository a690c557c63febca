/** One connection: pg's client, on which statements follow each other without waiting for the answers. */
import { EventEmitter } from 'node:events';
import { Client, type ClientConfig, Connection } from 'pg';
import {
  Description,
  type Exchange,
  Prepared,
  type RawRow,
  type Statement,
  type StatementConnection,
  withCode,
} from './statement.ts';

/** What pg has and its declarations do not tell of. */
declare module 'pg' {
  interface Connection {
    attachListeners(stream: EventEmitter): void;
    close(what: { type: 'S'; name: string }): void;
  }
  interface Client {
    connectionParameters: { ssl: boolean | undefined; sslnegotiation: string | undefined };
    getStartupConf(): Record<string, string>;
  }
}

const DATA_ROW = 0x44;
/** Bytes of a message before its contents: its kind and its length. */
const HEADER_BYTES = 5;

/** pg's connection: it writes the statements of one turn of the event loop at once, and leaves rows unparsed. */
class Wire extends Connection {
  #gathers = false;
  /** What has come of a message that is not whole yet, and how many bytes of it are missing. */
  #parts: Buffer[] = [];
  #missing = 0;

  /** Each write wakes the server: those of this turn are one. */
  gather(): void {
    if (this.#gathers) return;
    this.#gathers = true;
    this.stream.cork();
    setImmediate(() => {
      this.#gathers = false;
      this.stream.uncork();
    });
  }

  /** pg would make texts of all values of a row, also of bytes: rows are taken out, all else is pg's. */
  override attachListeners(stream: EventEmitter): void {
    const rest = new EventEmitter();
    super.attachListeners(rest);
    stream.on('data', (chunk: Buffer) => {
      this.#missing -= chunk.length;
      this.#parts.push(chunk);
      if (this.#missing > 0) return;
      try {
        this.#read(this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts), rest);
      } catch (error) {
        // A message that pg cannot read costs this connection, and not the process.
        this.stream.destroy(error as Error);
      }
    });
  }

  #read(bytes: Buffer, rest: EventEmitter): void {
    let at = 0;
    let others = 0;
    let needed = HEADER_BYTES;
    while (bytes.length - at >= HEADER_BYTES) {
      needed = 1 + bytes.readUInt32BE(at + 1);
      if (bytes.length - at < needed) break;
      if (bytes[at] === DATA_ROW) {
        if (others < at) rest.emit('data', bytes.subarray(others, at));
        const row: RawRow = { bytes, start: at };
        this.emit('dataRow', row);
        others = at + needed;
      }
      at += needed;
      needed = HEADER_BYTES;
    }
    if (others < at) rest.emit('data', bytes.subarray(others, at));
    this.#parts = at < bytes.length ? [bytes.subarray(at)] : [];
    this.#missing = needed - (bytes.length - at);
  }
}

/** Settings of a session by their names; those that are empty are left as the server has them. */
export type Settings = Readonly<Record<string, string | number>>;

/** Milliseconds. */
const KEEP_ALIVE_MS = 60_000;

class PipelinedClient extends Client {
  readonly #settings: Settings;

  constructor(config: ClientConfig, settings: Settings) {
    super({ ...config, pipeline: true });
    this.#settings = settings;
    const { ssl, sslnegotiation: sslNegotiation } = this.connectionParameters;
    const options = { ssl, sslNegotiation, keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_MS };
    Object.defineProperty(this, 'connection', { value: new Wire(options as ClientConfig) });
  }

  /** The settings of the session, sent at the start; pg's own list has few of them. */
  override getStartupConf(): Record<string, string> {
    const settings = Object.entries(this.#settings).filter(([, value]) => value !== '' && value !== 0);
    return {
      ...{ user: this.user ?? '', database: this.database ?? '' },
      ...Object.fromEntries(settings.map(([name, value]) => [name, String(value)])),
    };
  }
}

/**
 * So many statements a server knows by name at once, for each connection, and so many characters of their texts: with its plan
 * each takes about a hundred times its text of the server's memory, the longest some megabytes.
 */
const MAX_NAMES = 64;
const MAX_NAMED_TEXT = 131_072;

/** What a pool does when a connection has nothing more to do, or is gone. */
export type ConnectionOwner = {
  rest(link: PipelinedConnection): void;
  lose(link: PipelinedConnection): void;
};

export class PipelinedConnection implements StatementConnection {
  readonly named: boolean;
  /** Statements that have no answer yet. */
  pending = 0;
  /** Whether a caller has it alone. */
  reserved = false;
  isGone = false;
  /** Of the pool's clock: since when it rests, and when it is too old to be used again. */
  restsSince = 0;
  diesAt = 0;
  readonly #client: PipelinedClient;
  readonly #owner: ConnectionOwner;
  /** Each with the length of its text; the first is the one that was not used for longest. */
  readonly #names = new Map<string, number>();
  #namedText = 0;
  /**
   * Statements behind one whose types are being described, or with which a transaction begins: the order of the calls is
   * kept.
   */
  #queued: Statement[] = [];
  #isDescribing = false;
  #isBeginning = false;
  #begin: string | undefined;
  #types: readonly number[] = [];

  constructor(config: ClientConfig, settings: Settings, owner: ConnectionOwner, named: boolean) {
    this.named = named;
    this.#owner = owner;
    this.#client = new PipelinedClient(config, settings);
    const lose = () => {
      if (this.isGone) return;
      this.isGone = true;
      owner.lose(this);
    };
    this.#client.on('error', lose);
    this.#client.on('end', lose);
    this.#client.connection.on('parameterDescription', (message: { dataTypeIDs: number[] }) => {
      this.#types = message.dataTypeIDs;
    });
  }

  async connect(): Promise<void> {
    try {
      await this.#client.connect();
      this.#client.connection.on('readyForQuery', () => this.settle());
    } catch (error) {
      this.isGone = true;
      this.destroy();
      throw withCode(error as Error, 'CONNECT_TIMEOUT');
    }
  }

  /** Ends the session in order. */
  async end(): Promise<void> {
    this.isGone = true;
    await this.#client.end();
  }

  /** Closes the socket; pending statements fail at once. */
  destroy(): void {
    this.#client.connection.stream.destroy();
  }

  ask(statement: Statement): void {
    this.pending += 1;
    this.#queued.push(statement);
    this.#proceed();
  }

  /** A transaction begins by this text, together with the next statement. */
  begin(text: string): void {
    this.#begin = text;
  }

  takeBegin(): string | undefined {
    const text = this.#begin;
    this.#begin = undefined;
    this.#isBeginning = text !== undefined;
    return text;
  }

  /** Where a BEGIN fails, the connection goes: what follows would be done without a transaction. */
  begun(error?: Error): void {
    if (error) this.destroy();
    this.#isBeginning = false;
    this.#proceed();
  }

  #proceed(): void {
    while (!this.#isDescribing && !this.#isBeginning) {
      const next = this.#queued.shift();
      if (!next) return;
      this.#start(next);
    }
  }

  #start(statement: Statement): void {
    const { what } = statement;
    if (!(what instanceof Prepared) || what.types) {
      this.#send(statement);
      return;
    }
    this.#isDescribing = true;
    const done = (error?: Error) => {
      this.#isDescribing = false;
      if (error) {
        this.settle();
        statement.refuse(error);
      } else this.#send(statement);
      this.#proceed();
    };
    this.pending += 1;
    this.#send(new Description(what, done));
  }

  #send(exchange: Exchange): void {
    (this.#client.connection as Wire).gather();
    this.#client.query(exchange.by(this));
  }

  /** The server is done with one of them, or never had it. What an error ends is done when the server says so. */
  settle(): void {
    this.pending -= 1;
    if (this.pending === 0) this.#owner.rest(this);
  }

  learn(name: string, length: number): boolean {
    const known = this.#names.delete(name);
    this.#names.set(name, length);
    if (known) return true;
    this.#namedText += length;
    for (const oldest of this.#names.keys()) {
      const isFull = this.#names.size > MAX_NAMES || this.#namedText > MAX_NAMED_TEXT;
      if (!isFull || oldest === name) break;
      this.forget(oldest);
      this.#client.connection.close({ type: 'S', name: oldest });
    }
    return false;
  }

  forget(name: string): void {
    this.#namedText -= this.#names.get(name) ?? 0;
    this.#names.delete(name);
  }

  described(): readonly number[] {
    return this.#types;
  }
}
