/**
 * Sends what waits, beside the jobs: a slow receiver holds a place of its own and no worker. One process at a time sends to a
 * receiver, one request after the other; receivers of one project or group have a part of the places.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { batch } from '../../platform/batch.ts';
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import { DEAD_AFTER_SECONDS } from '../../platform/db/processes.ts';
import { runForProgram } from '../../platform/fair-share.ts';
import type { Log } from '../../platform/log.ts';
import { createPace } from '../../platform/pace.ts';
import { releaseReceivers, takeReceivers } from './actions.ts';
import { type Receivers, selectWaitingReceivers, type WaitingReceiver } from './queries.ts';

/** Receivers that are sent to at once by this process, and of one owner. */
const PLACES = 48;
const PLACES_OF_OWNER = 8;
/** Requests that a process begins: at twice as many on two cores, whatever else it is asked takes three times as long and more. */
const PER_SECOND = 550;
const POLL_INTERVAL_MS = 1_000;
const PAUSE_AFTER_FAULT_MS = 5_000;
const RELEASED_AT_ONCE = 100;

export type Sender = {
  start(): void;
  /** Something may wait. */
  wake(): void;
  stop(): Promise<void>;
};

/**
 * Sends to one receiver, in order, until nothing waits, its turn is over, or it is to be left alone. The signal ends what is under
 * way when the program stops; what was not received is then sent by the next process. It waits for its turn before each request.
 */
export type Drain<Row> = (receiver: Row, ending: AbortSignal, turn: () => Promise<void>) => Promise<void>;

/** The candidates that have a place: of each owner no more than it may have. Pure. */
export function chooseReceivers(
  candidates: readonly WaitingReceiver[],
  running: ReadonlyMap<string, number>,
  free: number,
): WaitingReceiver[] {
  const taken = new Map(running);
  const chosen: WaitingReceiver[] = [];
  // By turns of owners: the first of each, then the second.
  const byOwner = Map.groupBy(candidates, ({ owner }) => owner);
  for (let turn = 0; turn < PLACES_OF_OWNER; turn++)
    for (const [owner, receivers] of byOwner) {
      const receiver = receivers[turn];
      const held = taken.get(owner) ?? 0;
      if (chosen.length === free) return chosen;
      if (receiver === undefined || held >= PLACES_OF_OWNER) continue;
      taken.set(owner, held + 1);
      chosen.push(receiver);
    }
  return chosen;
}

export function createSender<Row extends { id: number }>(
  { database, presence, log }: { database: { background: Db }; presence: { id: string }; log: Log },
  receivers: Receivers,
  drain: Drain<Row>,
): Sender {
  const db = database.background;
  const process = presence.id;
  const running = new Map<number, { owner: string; done: Promise<void> }>();
  let looking: Promise<void> | undefined;
  let again = false;
  let timer: NodeJS.Timeout | undefined;
  const ending = new AbortController();
  const { signal } = ending;

  const turn = createPace(PER_SECOND);
  const release = batch<Db, number, undefined>(RELEASED_AT_ONCE, async (on, ids) => {
    await releaseReceivers(on, receivers, ids, process);
    return ids.map(() => undefined);
  });

  function begin(receiver: Row, owner: string): void {
    const { id } = receiver;
    const done = drain(receiver, signal, turn)
      .catch(async (error: unknown) => {
        log.error('deliveries to a receiver stopped', error, { of: receivers.receivers, receiver: id });
        // What fails again would be tried at once again.
        await sleep(PAUSE_AFTER_FAULT_MS, undefined, { signal }).catch(() => undefined);
      })
      .then(() => release(db, id))
      .catch((error: unknown) =>
        log.error('a receiver stays taken', error, { of: receivers.receivers, receiver: id }),
      )
      .finally(() => {
        running.delete(id);
        wake();
      });
    running.set(id, { owner, done });
  }

  async function look(): Promise<void> {
    do {
      again = false;
      const free = PLACES - running.size;
      if (free === 0) return;
      const waiting = await selectWaitingReceivers(db, receivers, now(), DEAD_AFTER_SECONDS);
      const held = new Map<string, number>();
      for (const { owner } of running.values()) held.set(owner, (held.get(owner) ?? 0) + 1);
      const candidates = waiting.filter(({ id }) => !running.has(id));
      const owners = new Map(chooseReceivers(candidates, held, free).map(({ id, owner }) => [id, owner]));
      if (owners.size === 0 || signal.aborted) continue;
      const taken = await takeReceivers<Row>(db, receivers, [...owners.keys()], process, DEAD_AFTER_SECONDS);
      for (const receiver of taken) begin(receiver, owners.get(receiver.id) ?? '');
    } while (again && !signal.aborted);
  }

  function wake(): void {
    if (signal.aborted) return;
    again = true;
    looking ??= runForProgram(look)
      .catch(async (error: unknown) => {
        log.error('looking for deliveries failed', error, { of: receivers.receivers });
        await sleep(POLL_INTERVAL_MS);
      })
      .finally(() => {
        looking = undefined;
      });
  }

  return {
    start() {
      timer = setInterval(wake, POLL_INTERVAL_MS);
      timer.unref();
      wake();
    },
    wake,
    async stop() {
      clearInterval(timer);
      ending.abort();
      await looking;
      await Promise.all([...running.values()].map(({ done }) => done));
    },
  };
}
