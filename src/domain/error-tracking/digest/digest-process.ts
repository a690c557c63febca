/**
 * The process that digests reports, with its own connections: a costly report does not delay requests, and
 * its memory ends with this process. An order starts the work, which goes on until the spool is empty.
 */
import { writeSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { type ConnectionTarget, type Db, openDatabase } from '../../../platform/db/database.ts';
import { trimErrors } from '../errors/retention-actions.ts';
import { createAllowance } from './allowance.ts';
import { type Counts, type DigestOne, digestBatch } from './digest-batch.ts';
import { digestReport } from './digest-report.ts';

/** The first message to the process. */
export type Beginning = { target: ConnectionTarget; personKey: string };

/**
 * An order to digest. An error keeps the `most` newest events; a batch has `batchSize` reports, because a
 * report that ends this process costs each report of its batch an attempt.
 */
export type DigestOrder = { most: number; batchSize: number };

/** `digested`: counts of a committed batch. `idle`: the spool is empty. `failed`: the reason of a failure. */
export type DigestMessage =
  | { digested: Counts; others: readonly string[] }
  | { idle: true }
  | { failed: string };

/** The descriptor of the file with the current report's id; a message for each would wake the parent. */
const CURRENT_REPORT_FD = 4;

/** Of at most 19: the process gets a tenth of the others' share, and all idle time. */
const NICENESS = 10;
/** Two shards: while one batch is written, the next is read and scrubbed. */
const SHARDS = 2;
/**
 * Milliseconds of waiting for each report of the last batch, and at most: many reports make large batches.
 */
const GATHER_MS = { each: 20, most: 500 };

const inHand = new BigInt64Array(1);

/** Names the report that is being digested; zero for none. */
function hold(id: number): void {
  inHand[0] = BigInt(id);
  writeSync(CURRENT_REPORT_FD, inHand, 0, inHand.byteLength, 0);
}

const sendMessage = (told: DigestMessage): void => {
  if (process.connected) process.send?.(told);
};

function begin({ target, personKey }: Beginning): void {
  const database = openDatabase(target, { requests: 1, background: SHARDS });
  const situation = { personKey, mayBeWhole: createAllowance() };
  const shards = new Set<Promise<void>>();
  let look: DigestOrder = { most: 0, batchSize: 1 };

  const digestOne: DigestOne = async (report) => {
    // The parent may disconnect in between.
    await turn();
    if (!process.connected) return 'later';
    hold(report.id);
    return digestReport(report, situation);
  };

  async function work(db: Db): Promise<void> {
    while (process.connected) {
      const { taken, counts, others, crowded } = await digestBatch(db, digestOne, look, () => hold(0));
      if (taken === 0) return;
      sendMessage({ digested: counts, others });
      if (crowded.length > 0) await trimErrors(db, crowded, look.most);
      if (taken >= look.batchSize) open();
      else await sleep(Math.min(GATHER_MS.most, taken * GATHER_MS.each));
    }
  }

  function open(): void {
    if (shards.size >= SHARDS) return;
    const shard = work(database.background)
      .catch((error: unknown) => sendMessage({ failed: String(error) }))
      .finally(() => {
        shards.delete(shard);
        if (shards.size === 0) sendMessage({ idle: true });
      });
    shards.add(shard);
  }

  process.on('message', (told: DigestOrder) => {
    look = told;
    open();
  });
  process.on('disconnect', async () => {
    await Promise.all(shards);
    await database.close();
    process.exit();
  });
}

// No request waits for a digest: where processors are few, it goes last.
setPriority(NICENESS);
// A terminal signals all processes of its group; this one ends when its parent disconnects.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
process.once('message', begin);
