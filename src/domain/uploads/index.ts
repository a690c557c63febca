/** Files in descriptions and notes: uploaded to a project or group, kept as blobs, served safely. */
import type { Capability } from '../../kernel/capability.ts';
import type { Needs } from '../../kernel/services.ts';
import { goOnLater, startTurn } from '../../platform/jobs/turn.ts';
import { reassignUploads } from './actions.ts';
import { uploadPages } from './pages.ts';
import { endpoints } from './routes.ts';

const SWEEP_BLOBS = 'uploads.sweep_blobs';
const MOVE_BLOBS = 'uploads.move_blobs';

export const uploadsCapability = (
  services: Needs<'authenticator' | 'blobs' | 'config' | 'database' | 'disk' | 'limiter' | 'settings'>,
): Capability => ({
  name: 'uploads',
  endpoints,
  routes: uploadPages(services),
  // For all that keep blobs: what goes by foreign keys, with its project or user, leaves them.
  tasks: {
    [SWEEP_BLOBS]: () => services.blobs.sweep(),
    [MOVE_BLOBS]: async () => {
      if (!(await services.blobs.moveAway(startTurn())))
        await goOnLater(services.database.background, MOVE_BLOBS);
    },
  },
  schedules: [
    { task: SWEEP_BLOBS, pattern: '20 4 * * *' },
    ...(services.config.objectStore === undefined ? [] : [{ task: MOVE_BLOBS, pattern: '* * * * *' }]),
  ],
  tables: ['blobs', 'uploads'],
  reassign: reassignUploads,
});
