/** Runs the mirrors that are due, some at once, beside the jobs; those of dead processes are taken up. It polls every second. */
import { setTimeout as sleep } from 'node:timers/promises';
import { now } from '../../../platform/clock.ts';
import { runForProgram } from '../../../platform/fair-share.ts';
import type { MirrorRow } from '../queries.ts';
import { RemoteFailure } from '../remote/connection.ts';
import { afterPull, afterPush, type Outcome } from '../rules.ts';
import { pull } from './pull.ts';
import { push } from './push.ts';
import { failureOf, type RunServices } from './remote-run.ts';
import { finishRun, giveBack, goesOn, takeDue } from './run-actions.ts';

/** Runs of this process at once: they wait for other servers, and git works for them at a low priority. */
const PLACES = 8;
const LOOK_INTERVAL_MS = 1_000;
/** A run that takes longer is ended. */
const MAX_RUN_MS = 3_600_000;
/** How soon a run ends whose mirror is gone, or in whose way something is. */
const WATCH_INTERVAL_MS = 3_000;
const PAUSE_AFTER_FAULT_MS = 5_000;

export type Runner = {
  start(): void;
  /** Runs under way here. */
  running(): number;
  stop(): Promise<void>;
};

export function createRunner(services: RunServices): Runner {
  const { database, presence, log } = services;
  const db = database.background;
  const running = new Map<number, Promise<void>>();
  const ending = new AbortController();
  const { signal } = ending;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;

  async function outcomeOf(row: MirrorRow): Promise<Outcome> {
    const deadline = AbortSignal.timeout(MAX_RUN_MS);
    const overtaken = new AbortController();
    const any = AbortSignal.any([signal, deadline, overtaken.signal]);
    const watch = setInterval(() => {
      goesOn(db, presence.id, row).then(
        (isSo) => isSo || overtaken.abort(),
        // The next look will tell.
        () => undefined,
      );
    }, WATCH_INTERVAL_MS);
    try {
      await (row.kind === 'pull' ? pull : push)(services, row, any);
      return {};
    } catch (error) {
      if (deadline.aborted)
        return failureOf(services, row, new RemoteFailure('The run took too long.', true));
      if (overtaken.signal.aborted)
        return failureOf(services, row, new RemoteFailure('The mirror or its project was changed.', true));
      return failureOf(services, row, error);
    } finally {
      clearInterval(watch);
    }
  }

  async function run(row: MirrorRow): Promise<void> {
    const outcome = await outcomeOf(row);
    if (outcome.failed && signal.aborted) return giveBack(db, presence.id, row.id);
    const time = now();
    const settings = await services.settings.read();
    const after =
      row.kind === 'pull'
        ? afterPull(row, outcome, time, settings.mirror_max_delay)
        : afterPush(row, outcome, time);
    await finishRun(db, presence.id, row, after);
    services.wake();
  }

  async function look(): Promise<void> {
    const places = PLACES - running.size;
    if (places <= 0 || signal.aborted) return;
    const { mirror_max_capacity: capacity, maintenance_mode: isRest } = await services.settings.read();
    if (isRest) return;
    await presence.announce();
    for (const row of await takeDue(db, presence.id, { places, capacity }))
      running.set(
        row.id,
        run(row)
          .catch(async (error: unknown) => {
            log.error('the end of a mirror was not recorded', error, { mirror: row.id });
            await sleep(PAUSE_AFTER_FAULT_MS, undefined, { signal }).catch(() => undefined);
            await giveBack(db, presence.id, row.id).catch(() => undefined);
          })
          .finally(() => {
            running.delete(row.id);
            wake();
          }),
      );
  }

  function wake(): void {
    if (signal.aborted) return;
    looking ??= runForProgram(look)
      .catch((error: unknown) => log.error('looking for mirrors failed', error))
      .finally(() => {
        looking = undefined;
      });
  }

  return {
    start() {
      timer = setInterval(wake, LOOK_INTERVAL_MS);
      timer.unref();
      wake();
    },
    running: () => running.size,
    async stop() {
      clearInterval(timer);
      ending.abort();
      await looking;
      await Promise.all(running.values());
    },
  };
}
