/** Plan limits in requests and in responses (facts-packages: 7.1, Plan limits). */
import Type, { type Static, type TInteger, type TOptional } from 'typebox';
import { PLAN, type PlanLimitName, planLimitNames } from '../../../kernel/instance/plan-limits.ts';
import { stringEnum } from '../../../platform/http/parameters/schema.ts';

/** The names of the public API; this instance has one of them. */
const planNames = [
  PLAN,
  'free',
  'bronze',
  'silver',
  'premium',
  'gold',
  'ultimate',
  'ultimate_trial',
  'ultimate_trial_paid_customer',
  'premium_trial',
  'opensource',
] as const;

const isSize = (name: PlanLimitName): boolean => name.endsWith('_file_size');
const limit = (name: PlanLimitName): TInteger =>
  Type.Integer({ minimum: 0, maximum: isSize(name) ? Number.MAX_SAFE_INTEGER : 2_147_483_647 });

// The keys are the names.
const shown = Object.fromEntries(planLimitNames.map((name) => [name, limit(name)])) as Record<
  PlanLimitName,
  TInteger
>;
const given = Object.fromEntries(planLimitNames.map((name) => [name, Type.Optional(limit(name))])) as Record<
  PlanLimitName,
  TOptional<TInteger>
>;

const LimitChange = Type.Object({
  timestamp: Type.Integer({ description: 'Seconds since 1970.' }),
  user_id: Type.Integer(),
  username: Type.String(),
  value: Type.Integer(),
});
export type LimitChange = Static<typeof LimitChange>;

export const PlanLimitsRecord = Type.Object({
  ...shown,
  limits_history: Type.Record(Type.String(), Type.Array(LimitChange), {
    description: 'By field, who changed it to what, oldest first.',
  }),
});
export type PlanLimitsRecord = Static<typeof PlanLimitsRecord>;

const plan = { description: 'There is one plan: default.' };
export const ReadPlanLimits = Type.Object({ plan_name: Type.Optional(stringEnum(planNames, plan)) });
export const UpdatePlanLimits = Type.Object({ plan_name: stringEnum(planNames, plan), ...given });
export type PlanLimitChanges = Omit<Static<typeof UpdatePlanLimits>, 'plan_name'>;
