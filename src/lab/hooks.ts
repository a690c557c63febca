/** What was delivered to the lab's own receivers of webhooks. */

export type Delivery = {
  id: number;
  at: string;
  /** Of the receiver, as its address has it. */
  name: string;
  method: string;
  headers: Record<string, string>;
  /** Parsed, where it is JSON. */
  body: unknown;
};

export type Receivers = {
  take(delivery: Omit<Delivery, 'id' | 'body'> & { bytes: Buffer }): void;
  /** The latest, the oldest of them first: of one receiver, or of all. */
  list(name?: string): Delivery[];
  clear(): void;
};

const MAX_DELIVERIES = 1_000;

function parsed(bytes: Buffer): unknown {
  const text = bytes.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function createReceivers(): Receivers {
  let deliveries: Delivery[] = [];
  let last = 0;
  return {
    take({ bytes, ...delivery }) {
      last += 1;
      deliveries = [...deliveries.slice(1 - MAX_DELIVERIES), { id: last, ...delivery, body: parsed(bytes) }];
    },
    list: (name) => deliveries.filter((each) => name === undefined || each.name === name),
    clear() {
      deliveries = [];
    },
  };
}
