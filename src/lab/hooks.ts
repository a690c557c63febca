/** What was delivered to the lab's own receivers of webhooks. */

import type { Delivery } from './lab.cjs';

export type Receivers = {
  take(delivery: Omit<Delivery, 'id' | 'body'> & { bytes: Buffer }): void;
  /** The latest, the oldest of them first: of one receiver, or of all. */
  list(name?: string): Delivery[];
  clear(): void;
};

const MAX_DELIVERIES = 1_000;
/** Of all bodies but the latest; one may have 25 MiB. */
const MAX_BYTES = 67_108_864;

function parsed(bytes: Buffer): unknown {
  const text = bytes.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function createReceivers(): Receivers {
  let kept: { delivery: Delivery; size: number }[] = [];
  let last = 0;
  return {
    take({ bytes, ...delivery }) {
      last += 1;
      kept.push({ delivery: { id: last, ...delivery, body: parsed(bytes) }, size: bytes.length });
      let size = kept.reduce((sum, each) => sum + each.size, 0);
      while (kept.length > MAX_DELIVERIES || (kept.length > 1 && size > MAX_BYTES))
        size -= kept.shift()?.size ?? 0;
    },
    list: (name) =>
      kept.flatMap(({ delivery }) => (name === undefined || delivery.name === name ? [delivery] : [])),
    clear() {
      kept = [];
    },
  };
}
