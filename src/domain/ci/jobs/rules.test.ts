import { expect, test } from 'vitest';
import { isCancelable, statuses } from '../processing/status.ts';
import { isPlayable, isRetryable } from './rules.ts';

test('what may be done with a job in each status', () =>
  expect(
    statuses.map((status) =>
      [
        status,
        isCancelable(status) && 'cancel',
        isRetryable({ status, retried: false }) && 'retry',
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

test('a job is retried once', () => expect(isRetryable({ status: 'failed', retried: true })).toBe(false));
