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
 * That there is something. Of an error `most` events are kept; a batch has as many reports as `together`: what ends this
 * process costs all those of its batch a try.
 */
export type Look = { most: number; together: number };

/** `digested`: of a batch that is committed. `idle`: nothing is left. `failed`: why it stopped before that. */
export type Told = { digested: Counts; others: readonly string[] } | { idle: true } | { failed: string };

/** The descriptor of the file that says which report is being digested: to tell of each would wake the other. */
const IN_HAND = 4;

/** Of 19 that there are: then it has a tenth of what the others have, and all that they leave. */
const STEP_BACK = 10;
/** While one batch is written, the next is read and scrubbed. */
const LANES = 2;
/** Milliseconds for each report of the last batch, and at most: where many come, many are written together. */
const GATHERING = { each: 20, most: 500 };

const inHand = new BigInt64Array(1);

/** Zero for none. */
function hold(id: number): void {
  inHand[0] = BigInt(id);
  writeSync(IN_HAND, inHand, 0, inHand.byteLength, 0);
}

const tell = (told: Told): void => {
  if (process.connected) process.send?.(told);
};

function begin({ target, personKey }: Beginning): void {
  const database = openDatabase(target, { requests: 1, background: LANES });
  const situation = { personKey, mayBeWhole: createAllowance() };
  const lanes = new Set<Promise<void>>();
  let look: Look = { most: 0, together: 1 };

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
      tell({ digested: counts, others });
      if (crowded.length > 0) await trimErrors(db, crowded, look.most);
      if (taken >= look.together) open();
      else await sleep(Math.min(GATHERING.most, taken * GATHERING.each));
    }
  }

  function open(): void {
    if (lanes.size >= LANES) return;
    const lane = work(database.background)
      .catch((error: unknown) => tell({ failed: String(error) }))
      .finally(() => {
        lanes.delete(lane);
        if (lanes.size === 0) tell({ idle: true });
      });
    lanes.add(lane);
  }

  process.on('message', (told: Look) => {
    look = told;
    open();
  });
  process.on('disconnect', async () => {
    await Promise.all(lanes);
    await database.close();
    process.exit();
  });
}

// Nobody waits for a digest: where processors are few, all others go first.
setPriority(STEP_BACK);
// Whoever ends the program may signal all its processes; this one ends when nobody gives orders any more.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
process.once('message', begin);
