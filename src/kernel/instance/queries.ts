/** What the instance shows and allows, by one statement. */
import { now } from '../../platform/clock.ts';
import type { Sql } from '../../platform/db/driver/sql.ts';
import { type Appearance, noAppearance } from './appearance.ts';
import type { Broadcast } from './broadcasts.ts';
import { defaultPlanLimits, PLAN, type PlanLimits } from './plan-limits.ts';

export type InstanceFacts = {
  /** Those whose time is not over, newest first. */
  broadcasts: readonly Broadcast[];
  appearance: Appearance;
  /** Differs with each change of the appearance. */
  appearanceVersion: number;
  limits: PlanLimits;
};

/** Messages at once that anybody is shown: those that run before those to come. */
const MAX_BROADCASTS = 20;

type Row = {
  broadcasts: (Omit<Broadcast, 'starts_at' | 'ends_at'> & { starts_at: string; ends_at: string })[];
  appearance: (Appearance & { updated_at: string }) | null;
  limits: Partial<PlanLimits> | null;
};

export async function selectInstanceFacts(sql: Sql): Promise<InstanceFacts> {
  const [row] = await sql<Row[]>`
    select
      (select coalesce(jsonb_agg(b order by b.id desc), '[]') from (
        select id, message, starts_at, ends_at, target_access_levels, target_path, broadcast_type, theme, dismissable
        from broadcast_messages where ends_at > ${now()}
        order by starts_at > ${now()}, id desc limit ${MAX_BROADCASTS}) b) as broadcasts,
      (select to_jsonb(a) from appearance a where id = 1) as appearance,
      (select values from plan_limits where plan = ${PLAN}) as limits`;
  if (!row) throw new Error('a select without a from clause gives one row');
  const { broadcasts, appearance, limits } = row;
  return {
    broadcasts: broadcasts.map((each) => ({
      ...each,
      starts_at: new Date(each.starts_at),
      ends_at: new Date(each.ends_at),
    })),
    appearance: appearance ?? noAppearance,
    appearanceVersion: appearance ? new Date(appearance.updated_at).getTime() : 0,
    limits: { ...defaultPlanLimits, ...limits },
  };
}
