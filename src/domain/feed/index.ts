/** Activity feeds, in three lists. announce() writes the events with the changes. */

import type { Capability } from '../../kernel/capability.ts';
import type { Services } from '../../kernel/services.ts';
import { sweepEvents } from './retention.ts';
import { activityEndpoints } from './routes.ts';

const SWEEP = 'activity.sweep_events';

export const activityCapability = ({ database, settings }: Services): Capability => ({
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
  async erase(tx, projectIds) {
    await tx.deleteFrom('activity_events').where('project_id', 'in', projectIds).execute();
  },
  async reassign(tx, userId, ghostId) {
    await tx
      .updateTable('activity_events')
      .set({ author_id: ghostId })
      .where('author_id', '=', userId)
      .execute();
  },
});
