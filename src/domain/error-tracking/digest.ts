/**
 * The digest: takes what was reported out of the spool and makes errors of it, beside the requests. Several processes do
 * so at once and never get in each other's way; a batch is one transaction, so that nothing is lost or counted twice.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Capability } from '../../core/capability.ts';
import type { Services } from '../../core/services.ts';
import { monotonic } from '../../platform/clock.ts';
import type { ReadGauge } from '../../platform/metrics.ts';
import { deriveKey } from '../../platform/secret.ts';
import { type Counts, digestBatch, noCounts } from './digest-batch.ts';
import { MOST_REPORTS } from './digest-writes.ts';
import { createDigester } from './digester.ts';
import type { ItemCounts } from './item-counts.ts';
import { trimErrors } from './retention.ts';
import type { Spool } from './spool.ts';

/** While one batch is written, the next is read and scrubbed. */
const LANES = 2;
/** Milliseconds: what is reported in them is digested together. */
const GATHERING = 40;
/** Milliseconds after which a process looks for what another one left behind. */
const POLLING = 1_000;
/** Milliseconds after a failure: of a database that is away, say. */
const PAUSE = 5_000;
const help = 'Reported events that were digested since the start, by what became of them.';

/** The digest of this process: it runs from start to stop, and at once when this process has stored something. */
export function createDigest(
  { database, secretKey, settings, log }: Pick<Services, 'database' | 'secretKey' | 'settings' | 'log'>,
  spool: Pick<Spool, 'onStored' | 'recent'>,
  items: Pick<ItemCounts, 'add'>,
): { background: NonNullable<Capability['background']>; gauges: readonly ReadGauge[] } {
  const digester = createDigester(deriveKey(secretKey, 'error tracking: people'));
  const lanes = new Set<Promise<void>>();
  const total = noCounts();
  let isRunning = false;
  let polling: NodeJS.Timeout | undefined;
  let gathering: NodeJS.Timeout | undefined;
  let pausedUntil = 0;

  function count(counts: Counts): void {
    for (const name of ['kept', 'repeated', 'unreadable', 'fatal'] as const) total[name] += counts[name];
    if (counts.fatal > 0)
      log.error('a report ended the digest too often', new Error('dropped'), { reports: counts.fatal });
  }

  async function work(): Promise<void> {
    while (isRunning) {
      const { error_tracking_events_per_error: most } = await settings.read();
      const { taken, counts, others, crowded } = await digestBatch(
        database.background,
        digester,
        most,
        spool.recent,
      );
      count(counts);
      items.add(others);
      if (crowded.length > 0) await trimErrors(database.background, crowded, most);
      if (taken === 0) return;
      if (taken >= MOST_REPORTS) open();
      else await sleep(GATHERING);
    }
  }

  function open(): void {
    if (!isRunning || lanes.size >= LANES || monotonic() < pausedUntil) return;
    const lane = work()
      .catch((error: unknown) => {
        if (!isRunning) return;
        pausedUntil = monotonic() + PAUSE;
        log.error('the digest of reported errors failed', error);
      })
      .finally(() => lanes.delete(lane));
    lanes.add(lane);
  }

  spool.onStored(() => {
    if (!isRunning || lanes.size > 0) return;
    gathering ??= setTimeout(() => {
      gathering = undefined;
      open();
    }, GATHERING);
  });

  return {
    background: {
      start() {
        isRunning = true;
        polling = setInterval(() => {
          if (lanes.size === 0) open();
        }, POLLING);
        polling.unref();
      },
      async stop() {
        isRunning = false;
        clearInterval(polling);
        clearTimeout(gathering);
        await digester.stop();
        await Promise.all(lanes);
      },
    },
    gauges: [
      {
        name: 'error_events_digested',
        help,
        labels: ['outcome'],
        read: () => Object.entries(total).map(([outcome, value]) => ({ labels: { outcome }, value })),
      },
    ],
  };
}
