/** Moves of repositories between storages: scheduled, listed, and run so that no commit is lost. */

import type { Capability } from '../../../kernel/capability.ts';
import type { Needs } from '../../../kernel/services.ts';
import { eraseMoves, forgetGone } from './lease-actions.ts';
import type { MovableContainers } from './movable-containers.ts';
import { moveEndpoints } from './routes.ts';
import { createRunner, type RunnerOptions } from './run.ts';

export type { Step } from './run-move.ts';

const FORGET_GONE = 'storage_moves.forget_gone';

/**
 * `kinds` come from their owners, by the composition root: the endpoints are made of them. The options are for tests that
 * watch the steps, or that wait less.
 */
export function storageMovesCapability(
  services: Needs<'database' | 'presence' | 'repositories' | 'log'>,
  kinds: readonly MovableContainers[],
  options: RunnerOptions = {},
): Capability {
  const runner = createRunner(services, options);
  return {
    name: 'storage-moves',
    tables: ['storage_moves'],
    // A running one is ended by its runner, which finds the project gone and removes its copies.
    erase: eraseMoves,
    // Moves of snippets and groups, which are deleted in many ways.
    tasks: { [FORGET_GONE]: () => forgetGone(services.database.background) },
    schedules: [{ task: FORGET_GONE, pattern: '23 * * * *' }],
    endpoints: moveEndpoints(kinds, runner.wake),
    background: runner,
    gauges: [
      {
        name: 'repository_storage_move_bytes',
        help: 'Bytes that the running moves have copied, by move and the last step that is done.',
        labels: ['move', 'phase'],
        read: () =>
          runner
            .progress()
            .map(({ move, phase, bytes }) => ({ labels: { move: String(move), phase }, value: bytes })),
      },
    ],
  };
}
