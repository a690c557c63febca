/** Changes of plan limits, and who made them. Pure. */
import { type PlanLimitName, type PlanLimits, planLimitNames } from '../../../kernel/instance/plan-limits.ts';
import type { LimitChange, PlanLimitChanges } from './schema.ts';

/** By field, oldest first. */
export type History = Readonly<Record<string, readonly LimitChange[]>>;

/** Changes of one field that are kept. */
const MAX_KEPT = 100;

/** The limits that become others. */
export const changedLimits = (
  before: PlanLimits,
  changes: PlanLimitChanges,
): { name: PlanLimitName; from: number; to: number }[] =>
  planLimitNames.flatMap((name) => {
    const to = changes[name];
    return to === undefined || to === before[name] ? [] : [{ name, from: before[name], to }];
  });

/** The history with one change more of each of the fields. */
export function withChanges(
  history: History,
  changes: readonly { name: PlanLimitName; to: number }[],
  by: { id: number; username: string },
  time: Date,
): History {
  const timestamp = Math.floor(time.getTime() / 1_000);
  const added = changes.map(({ name, to }) => [
    name,
    [...(history[name] ?? []), { timestamp, user_id: by.id, username: by.username, value: to }].slice(
      -MAX_KEPT,
    ),
  ]);
  return { ...history, ...Object.fromEntries(added) };
}
