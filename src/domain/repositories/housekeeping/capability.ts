/** Housekeeping of repositories: repacked, measured, and removed when their containers are gone. */
import type { Capability } from '../../../kernel/capability.ts';
import type { Needs } from '../../../kernel/services.ts';
import { WRITE_INTERRUPTED } from '../store/interrupted-writes.ts';
import { healthEndpoints } from './health-routes.ts';
import { findInterruptedPushes } from './interrupted-pushes.ts';
import { recordInterruptedPushOf } from './record-push.ts';
import { removeGone, sweepDrafts } from './removal-actions.ts';
import { housekeepingTasks } from './repack.ts';
import { housekeepingEndpoints } from './routes.ts';

export const housekeepingCapability = (
  services: Needs<'database' | 'settings' | 'repositories' | 'log' | 'wake'>,
): Capability => {
  const { repack, measure } = housekeepingTasks(services);
  return {
    name: 'housekeeping',
    endpoints: [...housekeepingEndpoints, ...healthEndpoints],
    // Their rows outlive those of the projects: they name the folders that are to go.
    tables: ['repositories', 'repository_uses', 'repository_removals'],
    tasks: {
      'housekeeping.repack': repack,
      'housekeeping.measure': measure,
      'housekeeping.find_forgotten': () => findInterruptedPushes(services),
      'housekeeping.record_push': recordInterruptedPushOf(services),
      'housekeeping.remove_gone': () => removeGone(services),
      'housekeeping.sweep_drafts': () => sweepDrafts(services),
    },
    listeners: [
      { fact: 'housekeeping_requested', task: 'housekeeping.repack' },
      { fact: WRITE_INTERRUPTED, task: 'housekeeping.record_push' },
    ],
    schedules: [
      { task: 'housekeeping.repack', pattern: '* * * * *' },
      { task: 'housekeeping.measure', pattern: '* * * * *' },
      { task: 'housekeeping.find_forgotten', pattern: '* * * * *' },
      { task: 'housekeeping.remove_gone', pattern: '*/5 * * * *' },
      { task: 'housekeeping.sweep_drafts', pattern: '40 3 * * *' },
    ],
  };
};
