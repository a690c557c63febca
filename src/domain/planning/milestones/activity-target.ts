/** Milestones in activity feeds. */
import { sql } from 'kysely';
import type { ActivityTarget } from '../../../kernel/activity/targets.ts';

const select: NonNullable<ActivityTarget['select']> = (id) =>
  sql`select m.iid, m.title from milestones m where m.id = ${id} and m.project_id = e.project_id`;

export const milestoneActivityTarget: ActivityTarget = {
  type: 'Milestone',
  abilities: ['read_planning'],
  // The event of a destruction is visible without its target.
  isVisible: (id) => sql`(v.read_planning and (e.action = 'destroyed' or exists (${select(id)})))`,
  select,
};
