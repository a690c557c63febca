/**
 * Runs the scheduled moves, some at once, and takes up those of dead processes: it polls every second, since
 * no process announces its death.
 */

import type { Needs } from '../../../kernel/services.ts';
import { monotonic } from '../../../platform/clock.ts';
import { acquireMove, acquireUntidyMoves, areMovesOpen, LeaseLost } from './lease-actions.ts';
import { type Pace, type Run, runMove, type Step, steps, tidy, usualPace } from './run-move.ts';
import type { MoveRow, MoveState } from './schedule-actions.ts';

export type RunnerOptions = {
  pace?: Partial<Pace>;
  /** Called after each step of each move. */
  onStep?(step: Step, move: MoveRow): void;
};

/** The progress of a move. */
export type Progress = { move: number; phase: Step; bytes: number };

export type Runner = {
  start(): void;
  /** Checks at once for a move that was scheduled. */
  wake(): void;
  /** Progress of the moves that run here. */
  progress(): Progress[];
  /** Leaves the moves as they are: another process takes them up. */
  stop(): Promise<void>;
};

/** Moves that copy at once; those that wait for readers to end count no more. */
const MAX_COPYING = 2;
const LOOK_INTERVAL_MS = 1_000;
const TIDY_INTERVAL_MS = 60_000;
const PROGRESS_INTERVAL_MS = 5_000;

const isCopying = ({ progress, state }: { progress: Progress; state: MoveState }): boolean =>
  state !== 'replicated' && steps.indexOf(progress.phase) < steps.indexOf('switched');

export function createRunner(
  services: Needs<'database' | 'presence' | 'repositories' | 'log'>,
  options: RunnerOptions = {},
): Runner {
  const { database, presence, log } = services;
  const db = database.background;
  const running = new Map<number, { progress: Progress; state: MoveState; end: Promise<void> }>();
  const ending = new AbortController();
  const { signal } = ending;
  let timer: NodeJS.Timeout | undefined;
  let view: Promise<void> | undefined;
  let again = false;
  let tidyAt = Number.NEGATIVE_INFINITY;

  function runOf(move: MoveRow): { run: Run; progress: Progress } {
    const progress: Progress = { move: move.id, phase: 'claimed', bytes: 0 };
    let toldAt = monotonic();
    const tell = () => {
      toldAt = monotonic();
      log.info('storage move', { ...progress, container: move.container, container_id: move.container_id });
    };
    const run: Run = {
      services,
      move,
      pace: { ...usualPace, ...options.pace },
      signal,
      onStep(step) {
        progress.phase = step;
        tell();
        options.onStep?.(step, move);
      },
      onProgress(bytes) {
        progress.bytes += bytes;
        if (monotonic() - toldAt > PROGRESS_INTERVAL_MS) tell();
      },
    };
    return { run, progress };
  }

  function begin(move: MoveRow): void {
    const { run, progress } = runOf(move);
    const end = Promise.resolve()
      .then(() => run.onStep('claimed'))
      .then(() => runMove(run))
      .then(
        () => {
          running.delete(move.id);
          wake();
        },
        (error: unknown) => {
          // It is still this process's: the next poll takes it up.
          running.delete(move.id);
          log.error('storage move interrupted', error, { move: move.id });
        },
      );
    running.set(move.id, { progress, state: move.state, end });
  }

  async function tidyUp(): Promise<void> {
    if (monotonic() - tidyAt < TIDY_INTERVAL_MS) return;
    tidyAt = monotonic();
    const moves = await acquireUntidyMoves(db, presence.id, [...running.keys()]);
    if (moves.length > 0) await presence.announce();
    for (const move of moves) {
      if (signal.aborted) return;
      await tidy(runOf(move).run).catch((error: unknown) => {
        if (!(error instanceof LeaseLost)) log.error('storage move: not tidied', error, { move: move.id });
      });
    }
  }

  async function look(): Promise<void> {
    do {
      again = false;
      if (!signal.aborted && (await areMovesOpen(db))) {
        await presence.announce();
        while (!signal.aborted && [...running.values()].filter(isCopying).length < MAX_COPYING) {
          const move = await acquireMove(db, presence.id, [...running.keys()]);
          if (!move) break;
          begin(move);
        }
      }
    } while (again && !signal.aborted);
    await tidyUp();
  }

  function wake(): void {
    if (signal.aborted) return;
    again = true;
    view ??= look()
      .catch((error: unknown) => log.error('storage moves wait', error))
      .finally(() => {
        view = undefined;
      });
  }

  return {
    start() {
      timer = setInterval(wake, LOOK_INTERVAL_MS);
      timer.unref();
      wake();
    },
    wake,
    progress: () => [...running.values()].map(({ progress }) => progress),
    async stop() {
      clearInterval(timer);
      ending.abort();
      await view;
      await Promise.all([...running.values()].map(({ end }) => end));
    },
  };
}
