/** Files in descriptions and notes: uploaded to a project or group, kept as blobs, served safely. */
import type { Capability } from '../../kernel/capability.ts';
import type { Needs } from '../../kernel/services.ts';
import { addJobs } from '../../platform/jobs/jobs.ts';
import { startTurn } from '../../platform/jobs/turn.ts';
import { reassignUploads } from './actions.ts';
import { uploadPages } from './pages.ts';
import { endpoints } from './routes.ts';

const SWEEP_BLOBS = 'uploads.sweep_blobs';
const MOVE_BLOBS = 'uploads.move_blobs';
const MOVE = 'uploads.move';

/** One at a time: a large file that is on its way keeps no second worker. */
const moveLater = ({ database }: Needs<'database'>): Promise<void> =>
  addJobs(database.background, [{ task: MOVE, payload: {}, key: MOVE, queue: MOVE, priority: 1 }]);

export const uploadsCapability = (
  services: Needs<'authenticator' | 'blobs' | 'config' | 'database' | 'disk' | 'limiter' | 'settings'>,
): Capability => ({
  name: 'uploads',
  endpoints,
  routes: uploadPages(services),
  // For all that keep blobs: what goes by foreign keys, with its project or user, leaves them.
  tasks: {
    [SWEEP_BLOBS]: () => services.blobs.sweep(),
    [MOVE_BLOBS]: () => moveLater(services),
    [MOVE]: async () => {
      if (!(await services.blobs.moveAway(startTurn()))) await moveLater(services);
    },
  },
  schedules: [
    { task: SWEEP_BLOBS, pattern: '20 4 * * *' },
    ...(services.config.objectStore === undefined ? [] : [{ task: MOVE_BLOBS, pattern: '* * * * *' }]),
  ],
  tables: ['blobs', 'removed_objects', 'uploads'],
  reassign: reassignUploads,
});
