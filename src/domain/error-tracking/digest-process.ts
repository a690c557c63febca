/**
 * The process that digests reports, with connections of its own: whatever somebody has put into one, the requests of others
 * go on, and what it costs ends with this process. It works when it is told to look, until nothing is left.
 */
import { writeSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { type ConnectionTarget, type Db, openDatabase } from '../../platform/db/database.ts';
import { createAllowance } from './allowance.ts';
import { type Counts, type DigestOne, digestBatch } from './digest-batch.ts';
import { digestReport } from './digest-report.ts';
import { trimErrors } from './retention.ts';

/** What it must know before it begins. */
export type Beginning = { target: ConnectionTarget; personKey: string };

/**
 * That there is something. Of an error `most` events are kept; a batch has as many reports as `batchSize`: what ends this
 * process costs all those of its batch a try.
 */
export type DigestOrder = { most: number; batchSize: number };

/** `digested`: of a batch that is committed. `idle`: nothing is left. `failed`: why it stopped before that. */
export type DigestMessage =
  | { digested: Counts; others: readonly string[] }
  | { idle: true }
  | { failed: string };

/** The descriptor of the file that says which report is being digested: to tell of each would wake the other. */
const CURRENT_REPORT_FD = 4;

/** Of 19 that there are: then it has a tenth of what the others have, and all that they leave. */
const NICENESS = 10;
/** While one batch is written, the next is read and scrubbed. */
const SHARDS = 2;
/** Milliseconds for each report of the last batch, and at most: where many come, many are written together. */
const GATHER_MS = { each: 20, most: 500 };

const inHand = new BigInt64Array(1);

/** Zero for none. */
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
    // In between it may be told to stop.
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

// Nobody waits for a digest: where processors are few, all others go first.
setPriority(NICENESS);
// Whoever ends the program may signal all its processes; this one ends when nobody gives orders any more.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
process.once('message', begin);
