/** How long something is thought to take, and has taken. */
import Type, { type Static } from 'typebox';
import { nullable } from '../../../platform/http/parameters/schema.ts';
import { humanDuration } from '../changes/durations.ts';

/** In seconds. */
export type Times = { estimate: number; spent: number };

export const TimeStatsRecord = Type.Object({
  time_estimate: Type.Integer({ description: 'Seconds.' }),
  total_time_spent: Type.Integer({ description: 'Seconds.' }),
  human_time_estimate: nullable(Type.String()),
  human_total_time_spent: nullable(Type.String()),
});
export type TimeStatsRecord = Static<typeof TimeStatsRecord>;

export const presentTimeStats = ({ estimate, spent }: Times): TimeStatsRecord => ({
  time_estimate: estimate,
  total_time_spent: spent,
  human_time_estimate: humanDuration(estimate),
  human_total_time_spent: humanDuration(spent),
});
