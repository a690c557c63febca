/** Milestones of releases, when others take their places. */
import type { MilestoneHolder } from '../../planning/index.ts';
import { replaceMilestone } from '../actions.ts';
import { selectHeldMilestones } from '../queries.ts';

export const releaseMilestones: MilestoneHolder = { select: selectHeldMilestones, replace: replaceMilestone };
