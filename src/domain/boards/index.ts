/** Issue boards of projects and groups: lists of issues by label, assignee or milestone. */
import type { Capability } from '../../kernel/capability.ts';
import { labelHolders, milestoneHolders } from '../planning/index.ts';
import { boardsOfLabels, boardsOfMilestones } from './held-actions.ts';
import { listEndpoints } from './list-routes.ts';
import { boardEndpoints } from './routes.ts';

export const boardsCapability = (): Capability => ({
  name: 'boards',
  endpoints: [...boardEndpoints, ...listEndpoints],
  registrations: [labelHolders.add(boardsOfLabels), milestoneHolders.add(boardsOfMilestones)],
  // They go with their project or group, by foreign key, and lists with their label, user or milestone.
  tables: ['boards', 'board_labels', 'board_lists'],
  unique: {
    board_lists_of_label: { property: 'label' },
    board_lists_of_assignee: { property: 'assignee' },
    board_lists_of_milestone: { property: 'milestone' },
  },
});
