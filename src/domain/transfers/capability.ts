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
import { RELATION_EXPORT, removeOldRelationExports, runRelationExports } from './relation-exports/actions.ts';
import { relationExportEndpoints } from './relation-exports/routes.ts';
import type { Owner } from './relations/export-queries.ts';

const SWEEP = 'transfers.sweep';

export function transfersCapability(services: Services): Capability {
  const db = services.database.background;
  const tasks: Tasks = {
    [EXPORT]: ({ export_id }) => runExport(services, Number(export_id)),
    [EXPORT_MAIL]: exportMailTask(services),
    [UPLOAD]: uploadTask(services),
    [IMPORT]: ({ import_id }) => runImport(services, Number(import_id)),
    // Written by requestRelationExports() alone.
    [RELATION_EXPORT]: (payload) => runRelationExports(services, payload as Owner),
    [SWEEP]: async () =>
      services.blobs.release([...(await removeOldExports(db)), ...(await removeOldRelationExports(db))]),
  };
  return {
    name: 'transfers',
    endpoints: [...exportEndpoints, ...importEndpoints, ...relationExportEndpoints],
    tasks,
    schedules: [{ task: SWEEP, pattern: '37 * * * *' }],
    // They go with their project or group, by foreign key.
    tables: ['exports', 'imports', 'import_failures', 'relation_exports'],
  };
}
