/** Moving in and out: archives of projects and groups. */
import type { Capability } from '../../kernel/capability.ts';
import type { Needs } from '../../kernel/services.ts';
import type { Tasks } from '../../platform/jobs/jobs.ts';
import { BULK_ENTITY, endLostTransfers } from './bulk-imports/actions.ts';
import { bulkImportEndpoints } from './bulk-imports/routes.ts';
import { runEntity } from './bulk-imports/run-entity.ts';
import { EXPORT, EXPORT_MAIL, removeOldExports, UPLOAD } from './exports/actions.ts';
import { exportMailTask } from './exports/mail.ts';
import { exportEndpoints } from './exports/routes.ts';
import { runExport } from './exports/run-export.ts';
import { uploadTask } from './exports/upload.ts';
import { endLostImports, IMPORT } from './imports/actions.ts';
import type { ImportServices } from './imports/report.ts';
import { importEndpoints } from './imports/routes.ts';
import { runImport } from './imports/run-import.ts';
import { RELATION_EXPORT, removeOldRelationExports, runRelationExports } from './relation-exports/actions.ts';
import { relationExportEndpoints } from './relation-exports/routes.ts';
import type { Owner } from './relations/export-queries.ts';

const SWEEP = 'transfers.sweep';

export function transfersCapability(
  services: ImportServices & Needs<'baseUrl' | 'instance' | 'outbound' | 'secretKey'>,
): Capability {
  const db = services.database.background;
  const tasks: Tasks = {
    [EXPORT]: ({ export_id }) => runExport(services, Number(export_id)),
    [EXPORT_MAIL]: exportMailTask(services),
    [UPLOAD]: uploadTask(services),
    [IMPORT]: ({ import_id }) => runImport(services, Number(import_id)),
    [BULK_ENTITY]: ({ entity_id }) => runEntity(services, Number(entity_id)),
    // Written by requestRelationExports() alone.
    [RELATION_EXPORT]: (payload) => runRelationExports(services, payload as Owner),
    [SWEEP]: async () => {
      const gone = [removeOldExports, removeOldRelationExports, endLostImports];
      for (const remove of gone) await services.blobs.release(await remove(db));
      await endLostTransfers(db);
    },
  };
  return {
    name: 'transfers',
    endpoints: [...exportEndpoints, ...importEndpoints, ...relationExportEndpoints, ...bulkImportEndpoints],
    tasks,
    schedules: [{ task: SWEEP, pattern: '37 * * * *' }],
    // They go with their project or group, by foreign key.
    tables: [
      'exports',
      'imports',
      'import_failures',
      'relation_exports',
      'bulk_imports',
      'bulk_import_entities',
    ],
  };
}
