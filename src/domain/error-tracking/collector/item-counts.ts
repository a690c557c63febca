/**
 * Counts items other than errors, none of which is kept; the part of the program that drops an item counts
 * it.
 */
import type { ReadGauge } from '../../../platform/metrics.ts';

export type ItemCounts = { add(types: readonly string[]): void; gauge: ReadGauge };

/** Item types of the protocol other than events; any other type is counted as `unknown`. */
const otherItems = new Set([
  'attachment',
  'check_in',
  'client_report',
  'feedback',
  'log',
  'metric_buckets',
  'profile',
  'profile_chunk',
  'replay_event',
  'replay_recording',
  'replay_video',
  'session',
  'sessions',
  'span',
  'statsd',
  'trace_metric',
  'transaction',
  'user_report',
]);

/** Counts of this process since its start. */
export function createItemCounts(): ItemCounts {
  const dropped = new Map<string, number>();
  return {
    add(types) {
      for (const type of types) {
        const name = otherItems.has(type) ? type : 'unknown';
        dropped.set(name, (dropped.get(name) ?? 0) + 1);
      }
    },
    gauge: {
      name: 'error_items_dropped_total',
      help: 'What applications reported beside errors, by the type of the item; nothing of it is kept.',
      labels: ['type'],
      read: () => [...dropped].map(([type, value]) => ({ labels: { type }, value })),
    },
  };
}
