/** Activity feeds, in three lists. announce() writes the events with the changes. */

import type { Capability } from '../../kernel/capability.ts';
import type { Needs } from '../../kernel/services.ts';
import { eraseEvents, reassignEvents, sweepEvents } from './retention-actions.ts';
import { activityEndpoints } from './routes.ts';

const SWEEP = 'activity.sweep_events';

export const activityCapability = ({ database, settings }: Needs<'database' | 'settings'>): Capability => ({
  name: 'activity',
  endpoints: activityEndpoints,
  tables: ['activity_events'],
  tasks: {
    async [SWEEP]() {
      const { activity_retention_days } = await settings.read();
      await sweepEvents(database.background, activity_retention_days);
    },
  },
  schedules: [{ task: SWEEP, pattern: '23 4 * * *' }],
  erase: eraseEvents,
  reassign: reassignEvents,
});
