/** Files in descriptions and notes: uploaded to a project or group, kept as blobs, served safely. */
import type { Capability } from '../../kernel/capability.ts';
import type { Needs } from '../../kernel/services.ts';
import { reassignUploads } from './actions.ts';
import { uploadPages } from './pages.ts';
import { endpoints } from './routes.ts';

const SWEEP_BLOBS = 'uploads.sweep_blobs';

export const uploadsCapability = (
  services: Needs<'authenticator' | 'blobs' | 'config' | 'database' | 'disk' | 'limiter' | 'settings'>,
): Capability => ({
  name: 'uploads',
  endpoints,
  routes: uploadPages(services),
  // For all that keep blobs: what goes by foreign keys, with its project or user, leaves them.
  tasks: { [SWEEP_BLOBS]: () => services.blobs.sweep() },
  schedules: [{ task: SWEEP_BLOBS, pattern: '20 4 * * *' }],
  tables: ['blobs', 'uploads'],
  reassign: reassignUploads,
});
