/** Questions and answers over a channel of messages: between the lab and its threads, and between it and the program that started it. */
import type { Readable, Writable } from 'node:stream';

/** What answers, by name: each takes one value and gives one, both of which can be sent. */
export type Handlers = { readonly [name: string]: (value: never) => unknown };

type Asked<Theirs extends Handlers> = <Name extends keyof Theirs & string>(
  name: Name,
  value: Parameters<Theirs[Name]>[0],
) => Promise<Awaited<ReturnType<Theirs[Name]>>>;

export type Message =
  | { ask: number; name: string; value: unknown }
  | { answer: number; value: unknown }
  | { answer: number; failed: string; status: number };

export type Channel = {
  send(message: Message): void;
  receive(listener: (message: Message) => void): void;
};

export type Wire<Theirs extends Handlers> = {
  ask: Asked<Theirs>;
  /** Rejects what waits, and what is asked later. */
  close(reason: Error): void;
};

/** What whoever asked reads: it caused the problem. */
export class LabError extends Error {
  readonly status: number;

  constructor(message: string, status = 400) {
    super(message);
    this.status = status;
  }
}

/** Not by Promise.withResolvers(): the library runs on the Node of the tests. */
type Waiting = { resolve(value: unknown): void; reject(error: Error): void };

/** A wire whose other end has the handlers `Theirs`, and gets answers by `ours`. */
export function openWire<Theirs extends Handlers>(channel: Channel, ours: Handlers): Wire<Theirs> {
  const waiting = new Map<number, Waiting>();
  let last = 0;
  let closed: Error | undefined;

  async function answer(id: number, name: string, value: unknown): Promise<void> {
    try {
      const handle = Object.hasOwn(ours, name) ? ours[name] : undefined;
      if (handle === undefined) throw new LabError(`nobody answers ${name}`);
      channel.send({ answer: id, value: await handle(value as never) });
    } catch (error) {
      const failed = error instanceof Error ? error.message : String(error);
      channel.send({ answer: id, failed, status: error instanceof LabError ? error.status : 500 });
    }
  }

  channel.receive((message) => {
    if ('ask' in message) {
      void answer(message.ask, message.name, message.value);
      return;
    }
    const pending = waiting.get(message.answer);
    waiting.delete(message.answer);
    if ('failed' in message) pending?.reject(new LabError(message.failed, message.status));
    else pending?.resolve(message.value);
  });

  return {
    ask: (name, value) =>
      new Promise<never>((resolve, reject) => {
        if (closed) return reject(closed);
        last += 1;
        waiting.set(last, { resolve: resolve as (value: unknown) => void, reject });
        channel.send({ ask: last, name, value });
      }),
    close(reason) {
      closed = reason;
      for (const pending of waiting.values()) pending.reject(reason);
      waiting.clear();
    },
  };
}

/** A channel of lines of JSON. */
export function lines(input: Readable, output: Writable): Channel {
  return {
    send: (message) => output.write(`${JSON.stringify(message)}\n`),
    receive(listener) {
      // Joined once: a seed comes in hundreds of pieces.
      let pieces: string[] = [];
      input.setEncoding('utf8').on('data', (text: string) => {
        const [first = '', ...others] = text.split('\n');
        pieces.push(first);
        for (const next of others) {
          const line = pieces.join('');
          pieces = [next];
          listener(JSON.parse(line));
        }
      });
    },
  };
}
