/** Milestones in activity feeds. */
import { sql } from 'kysely';
import type { ActivityTarget } from '../../../kernel/activity/targets.ts';
import { shownMilestone } from './queries.ts';

export const milestoneActivityTarget: ActivityTarget = {
  type: 'Milestone',
  abilities: ['read_planning'],
  // The event of a destruction is visible without its target.
  isVisible: (id) => sql`(v.read_planning and (e.action = 'destroyed' or exists (${shownMilestone(id)})))`,
  select: shownMilestone,
};
