/** Statements over the limits of the plan. */
import { defaultPlanLimits, PLAN, type PlanLimits } from '../../../kernel/instance/plan-limits.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { History } from './rules.ts';

export type StoredLimits = { limits: PlanLimits; history: History };

// Only writePlanLimits() writes the columns, from values of these types.
const stored = (row: { values: unknown; history: unknown } | undefined): StoredLimits => ({
  limits: { ...defaultPlanLimits, ...(row?.values as Partial<PlanLimits>) },
  history: (row?.history ?? {}) as History,
});

export const selectPlanLimits = async (db: Db): Promise<StoredLimits> =>
  stored(
    await db
      .selectFrom('plan_limits')
      .select(['values', 'history'])
      .where('plan', '=', PLAN)
      .executeTakeFirst(),
  );

/** The limits, locked until the transaction ends. */
export const lockPlanLimits = async (tx: Db): Promise<StoredLimits> =>
  stored(
    await tx
      .insertInto('plan_limits')
      .values({ plan: PLAN, values: {}, history: {}, updated_at: now() })
      .onConflict((conflict) => conflict.column('plan').doUpdateSet({ plan: PLAN }))
      .returning(['values', 'history'])
      .executeTakeFirstOrThrow(),
  );
