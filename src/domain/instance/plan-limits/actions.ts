/** Changes the limits of the plan; all processes obey the change when it is acknowledged. */
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { PLAN } from '../../../kernel/instance/plan-limits.ts';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import type { Json } from '../../../platform/db/rows.ts';
import { type ChangeServices, changeInstance, instanceEntity } from '../changes.ts';
import { lockPlanLimits, type StoredLimits } from './queries.ts';
import { changedLimits, withChanges } from './rules.ts';
import type { PlanLimitChanges } from './schema.ts';

export const changePlanLimits = (
  services: ChangeServices,
  db: Db,
  actor: Actor,
  input: PlanLimitChanges,
): Promise<StoredLimits> =>
  changeInstance(services, () =>
    inTransaction(db, async (tx) => {
      const before = await lockPlanLimits(tx);
      const changes = changedLimits(before.limits, input);
      if (changes.length === 0) return before;
      const limits = { ...before.limits, ...Object.fromEntries(changes.map(({ name, to }) => [name, to])) };
      const history = withChanges(before.history, changes, actor, now());
      await tx
        .updateTable('plan_limits')
        .set({ values: { ...limits }, history: { ...history } as Json, updated_at: now() })
        .where('plan', '=', PLAN)
        .execute();
      for (const { name, from, to } of changes)
        await announce(tx, {
          author: actor,
          audit: {
            entity: instanceEntity,
            event: 'plan_limits_updated',
            details: { change: name, from, to, target_type: 'Plan', target_details: PLAN },
          },
        });
      return { limits, history };
    }),
  );
