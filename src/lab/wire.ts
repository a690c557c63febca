/** Questions and answers over a channel of messages: between the lab and its threads, and between it and the program that started it. */

/** What asks, by name: each takes one value and gives one, both of which can be sent. */
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

/** A wire whose other end has the handlers `Theirs`, and gets answers by `ours`. */
export function openWire<Theirs extends Handlers>(channel: Channel, ours: Handlers): Wire<Theirs> {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let last = 0;
  let closed: Error | undefined;

  async function answer(id: number, name: string, value: unknown): Promise<void> {
    const handle = ours[name];
    try {
      if (handle === undefined) throw new Error(`nobody answers ${name}`);
      channel.send({ answer: id, value: await handle(value as never) });
    } catch (error) {
      const failed = error instanceof Error ? error.message : String(error);
      channel.send({ answer: id, failed, status: error instanceof LabError ? error.status : 500 });
    }
  }

  channel.receive((message) => {
    if ('ask' in message) return void answer(message.ask, message.name, message.value);
    const pending = waiting.get(message.answer);
    waiting.delete(message.answer);
    if ('failed' in message) pending?.reject(new LabError(message.failed, message.status));
    else pending?.resolve(message.value);
  });

  return {
    ask: (name, value) => {
      if (closed) return Promise.reject(closed);
      last += 1;
      const pending = Promise.withResolvers<unknown>();
      waiting.set(last, pending);
      channel.send({ ask: last, name, value });
      return pending.promise as never;
    },
    close(reason) {
      closed = reason;
      for (const pending of waiting.values()) pending.reject(reason);
      waiting.clear();
    },
  };
}

/** What whoever asked reads: it caused the problem. */
export class LabError extends Error {
  readonly status: number;

  constructor(message: string, status = 400) {
    super(message);
    this.status = status;
  }
}
