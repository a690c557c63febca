/** Files in descriptions and notes: uploaded to a project or group, kept in the data folder, served safely. */

import type { Capability } from '../../kernel/capability.ts';
import type { Needs } from '../../kernel/services.ts';
import { eraseUploads, FILES_GONE, forgetFiles, reassignUploads, sweepFiles } from './actions.ts';
import { uploadPages } from './pages.ts';
import { sweepPictures } from './picture-sweep.ts';
import { endpoints } from './routes.ts';

export { keepUnderAnother } from './upload-paths.ts';

const FORGET = 'uploads.forget_files';
const SWEEP = 'uploads.sweep_files';
const SWEEP_PICTURES = 'uploads.sweep_pictures';

export const uploadsCapability = (
  services: Needs<'config' | 'database' | 'settings' | 'authenticator' | 'limiter' | 'disk' | 'log'>,
): Capability => ({
  name: 'uploads',
  endpoints,
  routes: uploadPages(services),
  tasks: {
    [FORGET]: (payload) => forgetFiles(services, payload),
    [SWEEP]: () => sweepFiles(services),
    async [SWEEP_PICTURES]() {
      await sweepPictures(services.database.background, services.config.data);
    },
  },
  listeners: [{ fact: FILES_GONE, task: FORGET }],
  schedules: [
    { task: SWEEP, pattern: '25 4 * * *' },
    { task: SWEEP_PICTURES, pattern: '5 4 * * *' },
  ],
  tables: ['uploads'],
  erase: eraseUploads,
  reassign: reassignUploads,
});
