/**
 * Lets runners wait for jobs (facts for CI: Runner protocol, last_update). What a runner knows of the queue is a value that is
 * another one as soon as a job came to wait, the runner changed, or a minute is over. One look a quarter of a second serves all
 * requests that wait; they hold no connection to the database.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { runForProgram } from '../../../platform/fair-share.ts';
import { createPace } from '../../../platform/pace.ts';
import { digest, randomId } from '../../../platform/secret.ts';
import type { AuthenticRunner } from '../runners/authenticate-queries.ts';
import { selectWaitingSince } from './queries.ts';

const LOOK_INTERVAL_MS = 250;
/** A transaction that makes a job wait may take so long until others see it. */
const OVERLAP_MS = 10_000;
/** After that a value is outdated: what else lets a runner have a job makes no job wait anew. */
const LIFETIME_MS = 60_000;
/** The newest jobs that one look tells apart; of one that is seen late behind so many, the next minute tells. */
const MAX_SEEN = 1_000;
const MAX_HELD = 500;
const MAX_HELD_OF_RUNNER = 20;
/** Runners that are woken ask one after the other: those after the last job find that nothing waits. */
const WOKEN_PER_SECOND = 400;

type Held = { runnerId: number; wake: () => void };

export type JobQueue = {
  /** The value that the runner is told. */
  valueFor(runner: AuthenticRunner): string;
  /**
   * For a runner whose value was compared just now, with nothing awaited since: what comes later wakes it. Resolves with true
   * when there may be a job for it; with false when it waited long enough, or too many wait.
   */
  wait(runner: AuthenticRunner, gone: AbortSignal): Promise<boolean>;
};

export function createJobQueue({ database, park }: Needs<'database' | 'park'>, longestMs = 50_000): JobQueue {
  const process = randomId();
  const turn = createPace(WOKEN_PER_SECOND);
  const held = new Set<Held>();
  let changes = 0;
  let seen = new Set<string>();
  let lookedAt: Date | undefined;
  let isWatched = false;

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

  const valueFor = ({ id, updated_at }: AuthenticRunner): string => {
    const period = Math.floor(now().getTime() / LIFETIME_MS);
    return digest(JSON.stringify([process, changes, period, id, updated_at]))
      .toString('hex')
      .slice(0, 32);
  };

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
    async wait(runner, gone) {
      const ofRunner = [...held].filter(({ runnerId }) => runnerId === runner.id).length;
      if (held.size >= MAX_HELD || ofRunner >= MAX_HELD_OF_RUNNER) return false;
      return park(async (stopping) => {
        const woken = await hold(runner.id, [gone, stopping]);
        if (woken) await turn();
        return woken;
      });
    },
  };
}
