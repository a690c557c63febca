import { expect, test } from 'vitest';
import { defaultPlanLimits, limitOf } from '../../../kernel/instance/plan-limits.ts';
import { changedLimits, type History, withChanges } from './rules.ts';

test('only what becomes another number has changed', () => {
  const changes = { ci_pipeline_schedules: 10, ci_pipeline_size: 5, helm_max_file_size: 0 };
  expect(changedLimits(defaultPlanLimits, changes)).toEqual([
    { name: 'ci_pipeline_size', from: 0, to: 5 },
    { name: 'helm_max_file_size', from: 5_242_880, to: 0 },
  ]);
});

test('each field has its own history, of its newest hundred changes', () => {
  const by = { id: 7, username: 'ada' };
  let history: History = {};
  for (let to = 1; to <= 101; to += 1)
    history = withChanges(history, [{ name: 'ci_pipeline_size', to }], by, new Date(to * 1_000 + 999));
  history = withChanges(history, [{ name: 'dotenv_size', to: 3 }], by, new Date(0));
  expect(history.ci_pipeline_size).toHaveLength(100);
  expect(history.ci_pipeline_size?.at(-1)).toEqual({
    timestamp: 101,
    user_id: 7,
    username: 'ada',
    value: 101,
  });
  expect(history.dotenv_size).toEqual([{ timestamp: 0, user_id: 7, username: 'ada', value: 3 }]);
});

test('0 is no limit', () => {
  expect(limitOf({ ...defaultPlanLimits, ci_active_jobs: 0 }, 'ci_active_jobs')).toBe(
    Number.POSITIVE_INFINITY,
  );
  expect(limitOf({ ...defaultPlanLimits, ci_active_jobs: 3 }, 'ci_active_jobs')).toBe(3);
});
