/**
 * Connections to one database. A statement goes to one that rests, else to a new one while there may be more, else behind
 * what another is busy with; a transaction, which needs a connection alone, checks one out.
 */
import type { ClientConfig } from 'pg';
import { monotonic } from '../../clock.ts';
import { type ConnectionOwner, PipelinedConnection, type Settings } from './pipelined-connection.ts';
import { Prepared, type Result, Statement, withCode } from './statement.ts';
import { typeOf } from './values.ts';

export type PoolOptions = {
  config: ClientConfig;
  settings: Settings;
  max: number;
  /** False where servers of the pool come and go between statements, as behind a pooler of transactions. */
  named: boolean;
};

/** Runs statements: a pool, or a connection that was checked out of it. */
export type Executor = {
  /** A text with its parameters, `$1` and so on; one without any may be several statements. Calls `sent` once it is on its way. */
  run(text: string, values: readonly unknown[], prepare: boolean, sent?: () => void): Promise<Result>;
};

/** A connection that its holder has alone until it is released. */
export type ReservedConnection = Executor & {
  /** Sends this BEGIN with the next statement: it costs no round trip. */
  begin(text: string): void;
  release(): void;
};

/**
 * Called with each statement when it starts, and whether its answer is waited for; a BEGIN is a part of the statement with
 * which it is sent.
 */
export type Watcher = (text: string, values: readonly unknown[], isAwaited: boolean) => void;

/** Who waits for a connection: with a statement, or to have it alone. */
type QueueEntry = {
  statement?: Statement;
  hold?(link: PipelinedConnection): void;
  reject(error: unknown): void;
};

/** Milliseconds: how long a connection rests before it is closed, how long it lives, how often that is looked at. */
const MAX_IDLE_MS = 20_000;
const MAX_LIFETIME_MS = 2_700_000;
const CHECK_INTERVAL_MS = 5_000;

/** The wire counts parameters in two bytes, and pg reads them as a signed number. */
const MAX_PARAMETERS = 32_767;

/** Texts that are kept with their description by the server. */
const MAX_PREPARED = 1_000;

export class Pool implements Executor, ConnectionOwner {
  readonly #options: PoolOptions;
  readonly #links: PipelinedConnection[] = [];
  readonly #queued: QueueEntry[] = [];
  readonly #prepared = new Map<string, Prepared>();
  #opening = 0;
  #ending: PromiseWithResolvers<void> | undefined;
  #looking: NodeJS.Timeout | undefined;
  #seen: Watcher | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  run(text: string, values: readonly unknown[], prepare: boolean, sent?: () => void): Promise<Result> {
    return this.start(text, values, prepare, { sent });
  }

  /** Starts a statement: on the connection, else on any. */
  start(
    text: string,
    values: readonly unknown[],
    prepare: boolean,
    { link, sent }: { link?: PipelinedConnection; sent?: (() => void) | undefined },
  ): Promise<Result> {
    this.#seen?.(text, values, sent === undefined);
    return new Promise((resolve, reject) => {
      if (values.includes(undefined)) throw new TypeError('a statement was given an undefined value');
      if (values.length > MAX_PARAMETERS)
        throw new RangeError(`${values.length} values are more than a statement takes`);
      const what = prepare || values.length > 0 ? this.#prepare(text, values) : text;
      const statement = new Statement(what, values, { resolve, reject, sent });
      if (link) link.ask(statement);
      else this.#ask(statement);
    });
  }

  watch(seen: Watcher): void {
    this.#seen = seen;
  }

  #prepare(text: string, values: readonly unknown[]): Prepared {
    const types = values.map(typeOf);
    const key = types.some((type) => type > 0) ? `${types.join()} ${text}` : text;
    const known = this.#prepared.get(key);
    if (known) return known;
    const prepared = new Prepared(text, types);
    this.#prepared.set(key, prepared);
    if (this.#prepared.size > MAX_PREPARED) {
      const [oldest = ''] = this.#prepared.keys();
      this.#prepared.delete(oldest);
    }
    return prepared;
  }

  #ask(statement: Statement): void {
    if (this.#ending) {
      statement.refuse(connectionError('CONNECTION_ENDED'));
      return;
    }
    const link = this.#queued.length > 0 ? undefined : (this.#resting() ?? this.#leastBusy());
    if (link) link.ask(statement);
    else this.#queue({ statement, reject: (error) => statement.refuse(error) });
  }

  /** Checks a connection out. */
  async reserve(): Promise<ReservedConnection> {
    if (this.#ending) throw connectionError('CONNECTION_ENDED');
    const link = this.#queued.length > 0 ? undefined : this.#resting();
    if (link) return this.#hold(link);
    return new Promise((resolve, reject) => {
      this.#queue({ hold: (free) => resolve(this.#hold(free)), reject });
    });
  }

  #hold(link: PipelinedConnection): ReservedConnection {
    let held = true;
    link.reserved = true;
    return {
      run: async (text, values, prepare, sent) => {
        if (!held) throw new Error('a connection was used after it was given back');
        return this.start(text, values, prepare, { link, sent });
      },
      begin: (text) => link.begin(text),
      release: () => {
        if (!held) return;
        held = false;
        link.reserved = false;
        this.rest(link);
      },
    };
  }

  /** The oldest: its server has planned most statements already; others come to rest, and are closed. */
  #resting(): PipelinedConnection | undefined {
    return this.#links.find((link) => link.pending === 0 && !link.reserved && !link.isGone);
  }

  /** One that has work already; none while there may be more connections. */
  #leastBusy(): PipelinedConnection | undefined {
    if (this.#mayOpen()) return undefined;
    const shared = this.#links.filter((link) => !link.reserved && !link.isGone);
    return shared.reduce<PipelinedConnection | undefined>(
      (least, link) => (least && least.pending <= link.pending ? least : link),
      undefined,
    );
  }

  #mayOpen(): boolean {
    return this.#links.length + this.#opening < this.#options.max;
  }

  #queue(waiting: QueueEntry): void {
    this.#queued.push(waiting);
    if (this.#opening < this.#queued.length && this.#mayOpen()) void this.#open();
  }

  /** Of a failure those learn who wait for it: all where there is no connection, else who waits longest. */
  async #open(): Promise<void> {
    this.#opening += 1;
    const { config, settings, named } = this.#options;
    const link = new PipelinedConnection(config, settings, this, named);
    try {
      await link.connect();
      // It may have been cut off by what came with the welcome.
      if (link.isGone) throw connectionError('CONNECTION_CLOSED');
      this.#opening -= 1;
      this.#links.push(link);
      link.diesAt = monotonic() + MAX_LIFETIME_MS;
      this.#looking ??= setInterval(() => this.#look(), CHECK_INTERVAL_MS).unref();
      this.rest(link);
    } catch (error) {
      this.#opening -= 1;
      const waiting = this.#queued.splice(
        0,
        this.#links.length + this.#opening > 0 ? 1 : this.#queued.length,
      );
      for (const { reject } of waiting) reject(error);
      if (this.#queued.length > this.#opening && this.#mayOpen()) void this.#open();
      this.#endIfDone();
    }
  }

  /** Gives a connection to the queue; it rests when the queue is empty. */
  rest(link: PipelinedConnection): void {
    if (link.isGone || link.reserved || link.pending > 0) return;
    let share = Math.ceil(this.#queued.length / (this.#opening + 1));
    while (share-- > 0) {
      if (this.#queued[0]?.hold && link.pending > 0) return;
      const next = this.#queued.shift();
      if (next?.statement) link.ask(next.statement);
      if (next?.hold) {
        next.hold(link);
        return;
      }
    }
    if (link.pending > 0) return;
    const time = monotonic();
    link.restsSince = time;
    if (this.#ending || time > link.diesAt) this.#close(link);
  }

  /** A connection was cut off: its place is another's. */
  lose(link: PipelinedConnection): void {
    const place = this.#links.indexOf(link);
    if (place >= 0) this.#links.splice(place, 1);
    if (this.#opening < this.#queued.length && this.#mayOpen()) void this.#open();
    this.#endIfDone();
  }

  #close(link: PipelinedConnection): void {
    void link.end().then(() => this.lose(link));
  }

  #look(): void {
    const time = monotonic();
    for (const link of [...this.#links])
      if (link.pending === 0 && !link.reserved && !link.isGone && time - link.restsSince > MAX_IDLE_MS)
        this.#close(link);
  }

  /**
   * Closes the connections when pending statements have ended, or after so many seconds, when those that are left are
   * refused.
   */
  async end({ timeout }: { timeout?: number } = {}): Promise<void> {
    if (!this.#ending) {
      this.#ending = Promise.withResolvers();
      for (const link of [...this.#links]) this.rest(link);
      this.#endIfDone();
    }
    const timer = timeout === undefined ? undefined : setTimeout(() => this.#destroy(), timeout * 1_000);
    await this.#ending.promise;
    clearTimeout(timer);
  }

  #destroy(): void {
    for (const { reject } of this.#queued.splice(0)) reject(connectionError('CONNECTION_DESTROYED'));
    for (const link of [...this.#links]) link.destroy();
    this.#ending?.resolve();
  }

  #endIfDone(): void {
    if (!this.#ending || this.#links.length + this.#opening > 0) return;
    clearInterval(this.#looking);
    this.#ending.resolve();
  }
}

const connectionError = (code: string): Error =>
  withCode(new Error('the connection to the database was closed'), code);
