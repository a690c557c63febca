/** Moving in and out: archives of projects and groups. */
import type { Capability } from '../../kernel/capability.ts';
import type { Services } from '../../kernel/services.ts';
import type { Tasks } from '../../platform/jobs/jobs.ts';
import { EXPORT, EXPORT_MAIL, removeOldExports, UPLOAD } from './exports/actions.ts';
import { exportMailTask } from './exports/mail.ts';
import { exportEndpoints } from './exports/routes.ts';
import { runExport } from './exports/run-export.ts';
import { uploadTask } from './exports/upload.ts';
import { IMPORT } from './imports/actions.ts';
import { importEndpoints } from './imports/routes.ts';
import { runImport } from './imports/run-import.ts';

const SWEEP = 'transfers.sweep';

export function transfersCapability(services: Services): Capability {
  const db = services.database.background;
  const tasks: Tasks = {
    [EXPORT]: ({ export_id }) => runExport(services, Number(export_id)),
    [EXPORT_MAIL]: exportMailTask(services),
    [UPLOAD]: uploadTask(services),
    [IMPORT]: ({ import_id }) => runImport(services, Number(import_id)),
    [SWEEP]: async () => services.blobs.release(await removeOldExports(db)),
  };
  return {
    name: 'transfers',
    endpoints: [...exportEndpoints, ...importEndpoints],
    tasks,
    schedules: [{ task: SWEEP, pattern: '37 * * * *' }],
    // They go with their project or group, by foreign key.
    tables: ['exports', 'imports', 'import_failures'],
  };
}
