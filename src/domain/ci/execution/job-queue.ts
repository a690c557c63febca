/**
 * Lets runners wait for jobs (facts for CI: Runner protocol, last_update), and answers those that do not for little. What a runner knows of the queue is a value that is
 * another one as soon as a job came to wait, the runner changed, or a minute is over. One look a quarter of a second serves all
 * requests that wait; they hold no connection to the database.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Needs } from '../../../kernel/services.ts';
import { batch } from '../../../platform/batch.ts';
import { now } from '../../../platform/clock.ts';
import { runForProgram } from '../../../platform/fair-share.ts';
import { createPace } from '../../../platform/pace.ts';
import { digest, randomId } from '../../../platform/secret.ts';
import type { AuthenticRunner } from '../runners/authenticate-queries.ts';
import { isAnythingWaiting, selectWaitingSince } from './queries.ts';

const LOOK_INTERVAL_MS = 250;
/** A transaction that makes a job wait may take so long until others see it. */
const OVERLAP_MS = 10_000;
/** After that a value is outdated: what else lets a runner have a job makes no job wait anew. */
const LIFETIME_MS = 60_000;
/** The newest jobs that one look tells apart; of one that is seen late behind so many, the next minute tells. */
const MAX_SEEN = 1_000;
/** So long what waited is known to be for others: what else lets a runner have a job makes no job wait anew. */
const NONE_MS = 30_000;
const MAX_NONE = 10_000;
/** While nobody gets a job, the questions of so long go to the database together: each write to it costs more than its answer. */
const GATHER_MS = 100;
const MAX_HELD = 500;
const MAX_HELD_OF_RUNNER = 20;
/** Runners that are woken ask one after the other: those after the last job find that nothing waits. */
const WOKEN_PER_SECOND = 400;

type Held = { runnerId: number; wake: () => void };

export type JobQueue = {
  /** The value that the runner is told. */
  valueFor(runner: AuthenticRunner): string;
  /** Who asks, found at the same time as whether any job waits for a runner, and the value from before that. */
  ask<Asking extends { runner: AuthenticRunner }>(
    identify: () => Promise<Asking>,
  ): Promise<Asking & { isWaiting: boolean; value: string }>;
  /**
   * For a runner whose value was compared just now, with nothing awaited since: what comes later wakes it. Resolves with true
   * when there may be a job for it; with false when it waited long enough, or too many wait.
   */
  wait(runner: AuthenticRunner, gone: AbortSignal): Promise<boolean>;
  /** What waits is for others: none was found for the runner after it had this value. */
  noteNone(runner: AuthenticRunner, value: string): void;
  /** Whether that is noted, and nothing has come to wait since: it looks. */
  isStillNone(runner: AuthenticRunner): Promise<boolean>;
};

export function createJobQueue({ database, park }: Needs<'database' | 'park'>, longestMs = 50_000): JobQueue {
  const process = randomId();
  const turn = createPace(WOKEN_PER_SECOND);
  const held = new Set<Held>();
  const none = new Map<number, { value: string; until: number }>();
  let changes = 0;
  let seen = new Set<string>();
  let lookedAt: Date | undefined;
  let isWatched = false;
  let isQuiet = false;
  let gathering: Promise<void> | undefined;

  async function look(): Promise<void> {
    const time = now();
    const age = lookedAt && time.getTime() - lookedAt.getTime();
    // The clock of a machine may be set back.
    const isLate = age === undefined || age < 0 || age > LIFETIME_MS;
    const since = new Date(time.getTime() - (isLate ? 0 : age) - OVERLAP_MS);
    const rows = await selectWaitingSince(database.points, since, MAX_SEEN);
    const found = new Set(rows.map(({ id, updated_at }) => `${id} ${updated_at.getTime()}`));
    const isNew = isLate || [...found].some((each) => !seen.has(each));
    seen = found;
    lookedAt = time;
    if (!isNew) return;
    changes++;
    for (const each of held) each.wake();
  }

  /** Those who ask while it looks share the next look, which sees what was there when they asked. */
  const lookForAll = batch<typeof database, number, undefined>(MAX_HELD, async (_, runners) => {
    await look();
    return runners.map(() => undefined);
  });

  /** Looks again and again while anybody waits; whoever is woken in vain finds the fault by itself. */
  async function watch(): Promise<void> {
    isWatched = true;
    while (held.size > 0) {
      await look().catch(() => {
        for (const each of held) each.wake();
      });
      await sleep(LOOK_INTERVAL_MS);
    }
    isWatched = false;
  }

  const valueAt = (tick: number, { id, updated_at, last_assignment_id }: AuthenticRunner): string => {
    const period = Math.floor(now().getTime() / LIFETIME_MS);
    return digest(`${process} ${tick} ${period} ${id} ${updated_at.getTime()} ${last_assignment_id}`)
      .toString('hex')
      .slice(0, 32);
  };

  const valueFor = (runner: AuthenticRunner): string => valueAt(changes, runner);

  async function gather(): Promise<void> {
    gathering ??= sleep(GATHER_MS);
    await gathering;
    gathering = undefined;
  }

  /** Whether it was woken before that time, and before one of the signals. */
  const hold = (runnerId: number, signals: readonly AbortSignal[]): Promise<boolean> =>
    new Promise((resolve) => {
      const end = (woken: boolean): void => {
        clearTimeout(timer);
        held.delete(each);
        for (const signal of signals) signal.removeEventListener('abort', give);
        resolve(woken);
      };
      const give = (): void => end(false);
      const timer = setTimeout(give, longestMs);
      const each: Held = { runnerId, wake: () => end(true) };
      held.add(each);
      if (signals.some(({ aborted }) => aborted)) return give();
      for (const signal of signals) signal.addEventListener('abort', give);
      if (!isWatched) void runForProgram(watch);
    });

  return {
    valueFor,
    async ask(identify) {
      if (isQuiet) await gather();
      const tick = changes;
      const [asking, isWaiting] = await Promise.all([identify(), isAnythingWaiting(database.points)]);
      isQuiet = !isWaiting;
      return { ...asking, isWaiting, value: valueAt(tick, asking.runner) };
    },
    async wait(runner, gone) {
      const ofRunner = [...held].filter(({ runnerId }) => runnerId === runner.id).length;
      if (held.size >= MAX_HELD || ofRunner >= MAX_HELD_OF_RUNNER) return false;
      return park(async (stopping) => {
        const woken = await hold(runner.id, [gone, stopping]);
        if (woken) await turn();
        return woken;
      });
    },
    noteNone({ id }, value) {
      isQuiet = true;
      if (none.size >= MAX_NONE) none.clear();
      none.set(id, { value, until: now().getTime() + NONE_MS });
    },
    async isStillNone(runner) {
      const noted = none.get(runner.id);
      if (!noted || noted.value !== valueFor(runner)) return false;
      const left = noted.until - now().getTime();
      // The clock of a machine may be set back.
      if (left <= 0 || left > NONE_MS) return false;
      await lookForAll(database, runner.id);
      isQuiet = noted.value === valueFor(runner);
      return isQuiet;
    },
  };
}
