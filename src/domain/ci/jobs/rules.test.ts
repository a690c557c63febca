import { expect, test } from 'vitest';
import { isCancelable, statuses } from '../processing/status.ts';
import { isPlayable, isRetryable } from './rules.ts';

test('what may be done with a job in each status', () =>
  expect(
    statuses.map((status) =>
      [
        status,
        isCancelable(status) && 'cancel',
        isRetryable({ status, retried: false, failure_reason: null }) && 'retry',
        isPlayable(status) && 'play',
      ]
        .filter(Boolean)
        .join(' '),
    ),
  ).toEqual([
    'created cancel',
    'waiting_for_resource cancel',
    'preparing cancel',
    'waiting_for_callback cancel',
    'pending cancel',
    'running cancel',
    'success retry',
    'failed retry',
    'canceling',
    'canceled retry',
    'skipped',
    'manual cancel play',
    'scheduled cancel play',
  ]));

test.each([
  [true, null, false],
  [false, 'pipeline_loop_detected', false],
  [false, 'reached_max_descendant_pipelines_depth', false],
  [false, 'script_failure', true],
])('one that failed, retried: %j, for %j, may be retried: %j', (retried, failure_reason, expected) =>
  expect(isRetryable({ status: 'failed', retried, failure_reason })).toBe(expected),
);
