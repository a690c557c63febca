/** Upkeep of repositories: repacked, measured, and removed when what they belong to is gone. */
import type { Capability } from '../../core/capability.ts';
import type { Services } from '../../core/services.ts';
import { findForgotten } from './forgotten.ts';
import { removeGone, sweepDrafts } from './removal.ts';
import { upkeepEndpoints } from './routes.ts';
import { upkeepTasks } from './tending.ts';

export const upkeepCapability = (services: Services): Capability => {
  const { tend, measure } = upkeepTasks(services);
  return {
    name: 'upkeep',
    endpoints: upkeepEndpoints,
    // Their rows outlive those of the projects: they say which folders are to go.
    tables: ['repositories', 'repository_uses', 'repository_removals'],
    tasks: {
      'upkeep.tend': tend,
      'upkeep.measure': measure,
      'upkeep.find_forgotten': () => findForgotten(services),
      'upkeep.remove_gone': () => removeGone(services),
      'upkeep.sweep_drafts': () => sweepDrafts(services),
    },
    listeners: [{ fact: 'housekeeping_asked', task: 'upkeep.tend' }],
    schedules: [
      { task: 'upkeep.tend', pattern: '* * * * *' },
      { task: 'upkeep.measure', pattern: '* * * * *' },
      { task: 'upkeep.find_forgotten', pattern: '* * * * *' },
      { task: 'upkeep.remove_gone', pattern: '*/5 * * * *' },
      { task: 'upkeep.sweep_drafts', pattern: '40 3 * * *' },
    ],
  };
};
