/** The limits of the plan that every project and group has. */
import { onInstance } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint } from '../../../kernel/api/endpoint.ts';
import { PLAN } from '../../../kernel/instance/plan-limits.ts';
import { notFound } from '../../../platform/failure.ts';
import { changePlanLimits } from './actions.ts';
import { type StoredLimits, selectPlanLimits } from './queries.ts';
import { PlanLimitsRecord, ReadPlanLimits, UpdatePlanLimits } from './schema.ts';

const present = ({ limits, history }: StoredLimits): PlanLimitsRecord => ({
  ...limits,
  limits_history: Object.fromEntries(Object.entries(history).map(([name, changes]) => [name, [...changes]])),
});

function requirePlan(name: string): void {
  if (name !== PLAN) throw notFound('Plan');
}

export const planLimitEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/application/plan_limits',
    summary: 'The limits of the plan; 0 is no limit, but of needs, which it forbids.',
    access: onInstance,
    input: ReadPlanLimits,
    reply: PlanLimitsRecord,
    handle: async ({ db, input: { plan_name = PLAN } }) => {
      requirePlan(plan_name);
      return present(await selectPlanLimits(db));
    },
  }),
  endpoint({
    method: 'PUT',
    path: '/application/plan_limits',
    summary: 'Changes limits of the plan; what is not sent stays as it is.',
    access: onInstance,
    input: UpdatePlanLimits,
    reply: PlanLimitsRecord,
    handle: async ({ services, db, actor, input: { plan_name, ...changes } }) => {
      requirePlan(plan_name);
      return present(await changePlanLimits(services, db, actor, changes));
    },
  }),
];
