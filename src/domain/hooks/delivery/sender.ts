/**
 * Sends what waits, beside the jobs: a slow receiver holds a place of its own and no worker. One process at a time sends to a
 * hook, one request after the other; hooks of one project or group have a part of the places.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { batch } from '../../../platform/batch.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { DEAD_AFTER_SECONDS } from '../../../platform/db/processes.ts';
import { runForProgram } from '../../../platform/fair-share.ts';
import type { HookServices } from '../events/hook-events.ts';
import type { HookRow } from '../management/queries.ts';
import { alertStatus } from '../management/rules.ts';
import { type HookSecrets, readSecrets } from '../management/secrets.ts';
import {
  dropWaiting,
  type HookHealth,
  healthAfter,
  recordOutcomes,
  releaseHooks,
  type SentDelivery,
  takeHooks,
  writeHealth,
} from './actions.ts';
import {
  selectNextDeliveries,
  selectWaitingHooks,
  type WaitingDelivery,
  type WaitingHook,
} from './queries.ts';
import { isOfInstance, sendToHook } from './send.ts';

/** Hooks that are sent to at once by this process, and of one owner. */
const PLACES = 48;
const PLACES_OF_OWNER = 8;
/** Deliveries that are read at once for a hook, and their bytes: a single larger one is read alone. */
const READ_AT_ONCE = 25;
const READ_BYTES = 262_144;
/** Bodies of more than that are sent one after the other, whatever their hook. */
const LARGE_BYTES = 1_048_576;
/** So many for one hook; then others have its place. */
const TURN = 200;
const POLL_INTERVAL_MS = 1_000;
const PAUSE_AFTER_FAULT_MS = 5_000;
/** Outcomes are written together. */
const MAX_OUTCOMES = 100;

export type Sender = {
  start(): void;
  /** Something may wait. */
  wake(): void;
  stop(): Promise<void>;
};

/** The candidates that have a place: of each owner no more than it may have. Pure. */
export function chooseHooks(
  candidates: readonly WaitingHook[],
  running: ReadonlyMap<string, number>,
  free: number,
): WaitingHook[] {
  const taken = new Map(running);
  const chosen: WaitingHook[] = [];
  // By turns of owners: the first of each, then the second.
  const byOwner = Map.groupBy(candidates, ({ owner }) => owner);
  for (let turn = 0; turn < PLACES_OF_OWNER; turn++)
    for (const [owner, hooks] of byOwner) {
      const hook = hooks[turn];
      const held = taken.get(owner) ?? 0;
      if (chosen.length === free) return chosen;
      if (hook === undefined || held >= PLACES_OF_OWNER) continue;
      taken.set(owner, held + 1);
      chosen.push(hook);
    }
  return chosen;
}

const ownerOf = ({ project_id, namespace_id }: HookRow): string => {
  if (project_id !== null) return `p${project_id}`;
  return namespace_id === null ? 'instance' : `g${namespace_id}`;
};

export function createSender(services: HookServices): Sender {
  const { database, presence, log } = services;
  const db = database.background;
  const process = presence.id;
  const running = new Map<number, { owner: string; done: Promise<void> }>();
  let isStopped = false;
  let looking: Promise<void> | undefined;
  let again = false;
  let timer: NodeJS.Timeout | undefined;
  let large: Promise<unknown> = Promise.resolve();
  const ending = new AbortController();

  const record = batch<Db, SentDelivery, undefined>(MAX_OUTCOMES, async (on, sent) => {
    await recordOutcomes(on, sent);
    return sent.map(() => undefined);
  });

  const release = batch<Db, number, undefined>(MAX_OUTCOMES, async (on, ids) => {
    await releaseHooks(on, ids, process);
    return ids.map(() => undefined);
  });

  /** One large body in memory at a time. */
  function inTurn<T>(body: string, work: () => Promise<T>): Promise<T> {
    if (body.length < LARGE_BYTES) return work();
    const turn = large.then(work, work);
    large = turn.catch(() => undefined);
    return turn;
  }

  const send = async (hook: HookRow, secrets: HookSecrets, delivery: WaitingDelivery) => {
    const { flag, body, chain, idempotency_key: idempotencyKey } = delivery;
    const sending = { flag, body, chain, idempotencyKey };
    return inTurn(body, () => sendToHook(services, hook, secrets, sending, ending.signal));
  };

  /** Sends to one hook, in order, until nothing waits, its turn is over, or it is to be left alone. */
  async function drain(hook: HookRow): Promise<void> {
    const secrets = readSecrets(services.secretKey, hook);
    let health: HookHealth = hook;
    let last = 0;
    let sent = 0;
    while (!isStopped && sent < TURN) {
      const next = await selectNextDeliveries(db, hook.id, {
        after: last,
        most: READ_AT_ONCE,
        bytes: READ_BYTES,
      });
      if (next.length === 0) return;
      const recorded: Promise<unknown>[] = [];
      for (const delivery of next) {
        if (isStopped) break;
        if (alertStatus(health, now()) !== 'executable') {
          await Promise.all(recorded);
          return dropWaiting(db, hook.id);
        }
        const outcome = await send(hook, secrets, delivery);
        // What was given up is sent by the next process, under the same key.
        if (isStopped && !outcome.received) break;
        last = delivery.id;
        sent++;
        recorded.push(record(db, { id: delivery.id, hookId: hook.id, outcome }));
        const after = healthAfter(health, outcome.received, isOfInstance(hook), now());
        const isChanged =
          after.recent_failures !== health.recent_failures || after.disabled_until !== health.disabled_until;
        health = after;
        if (isChanged) await writeHealth(db, hook.id, health);
      }
      // The next ones are read when these are no longer waiting; who finds fewer than it may have looks again after the release.
      await Promise.all(recorded);
      if (next.length < READ_AT_ONCE) return;
    }
  }

  function begin(hook: HookRow): void {
    const done = drain(hook)
      .catch(async (error: unknown) => {
        log.error('deliveries of a hook stopped', error, { hook: hook.id });
        // What fails again would be tried at once again.
        await sleep(PAUSE_AFTER_FAULT_MS, undefined, { signal: ending.signal }).catch(() => undefined);
      })
      .then(() => release(db, hook.id))
      .catch((error: unknown) => log.error('a hook stays taken', error, { hook: hook.id }))
      .finally(() => {
        running.delete(hook.id);
        wake();
      });
    running.set(hook.id, { owner: ownerOf(hook), done });
  }

  async function look(): Promise<void> {
    do {
      again = false;
      const free = PLACES - running.size;
      if (free === 0) return;
      const waiting = await selectWaitingHooks(db, DEAD_AFTER_SECONDS);
      const owners = new Map<string, number>();
      for (const { owner } of running.values()) owners.set(owner, (owners.get(owner) ?? 0) + 1);
      const candidates = waiting.filter(({ id }) => !running.has(id));
      const chosen = chooseHooks(candidates, owners, free);
      if (chosen.length === 0 || isStopped) continue;
      const ids = chosen.map(({ id }) => id);
      for (const hook of await takeHooks(db, ids, process, DEAD_AFTER_SECONDS)) begin(hook);
    } while (again && !isStopped);
  }

  function wake(): void {
    if (isStopped) return;
    again = true;
    looking ??= runForProgram(look)
      .catch(async (error: unknown) => {
        log.error('looking for deliveries failed', error);
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
      isStopped = true;
      clearInterval(timer);
      ending.abort();
      await looking;
      await Promise.all([...running.values()].map(({ done }) => done));
    },
  };
}
