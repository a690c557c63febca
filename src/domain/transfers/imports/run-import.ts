/** Imports archives by jobs: unpacks them, and says what became of it. */
import { Failure } from '../../../platform/failure.ts';
import { BadBundle } from '../../../platform/git/copies/bundle.ts';
import { BadCopy } from '../../../platform/git/copies/check.ts';
import { BadArchive, unpackArchive } from '../archive/unpack.ts';
import { inScratch, isPassing, removeScratch, UNEXPECTED } from '../exports/run-export.ts';
import { endImport, startImport } from './actions.ts';
import { importGroups } from './import-groups.ts';
import { importProject } from './import-project.ts';
import type { ImportRow } from './queries.ts';
import { type ImportServices, startReport } from './report.ts';

const MEBIBYTE = 1_048_576;

/** What is wrong with the archive, for whoever brought it. */
function failureOf(error: unknown): string {
  if (error instanceof BadArchive) return error.message;
  if (error instanceof BadBundle || error instanceof BadCopy)
    return `The repository could not be read: ${error.message}`;
  if (!(error instanceof Failure)) return UNEXPECTED;
  return typeof error.publicMessage === 'string' ? error.publicMessage : JSON.stringify(error.publicMessage);
}

async function run(services: ImportServices, row: ImportRow): Promise<readonly string[]> {
  const { max_decompressed_archive_size } = await services.settings.read();
  const maximum =
    max_decompressed_archive_size === 0 ? Number.POSITIVE_INFINITY : max_decompressed_archive_size * MEBIBYTE;
  return inScratch(services, `import-${row.id}`, async (folder) => {
    const blob = row.sha256 ? await services.blobs.open(row.sha256) : undefined;
    if (!blob) throw new BadArchive('The archive is gone.');
    const unpacked = await unpackArchive(blob.stream(), folder, { maximum, disk: services.disk }).finally(
      () => blob.close().catch(() => undefined),
    );
    const report = startReport(unpacked.passedOver);
    if (row.project_id !== null) await importProject(services, row, row.project_id, unpacked, report);
    else await importGroups(services, row, row.namespace_id ?? 0, unpacked, report);
    return [...report.passedOver];
  });
}

/** Imports the archive; what a killed process began is begun anew. */
export async function runImport(services: ImportServices, id: number): Promise<void> {
  const row = await startImport(services.database.background, id);
  if (!row) return removeScratch(services, `import-${id}`);
  const end = async (how: Parameters<typeof endImport>[2]) =>
    services.blobs.release(await endImport(services, row, how));
  try {
    await end({ status: 'finished', passedOver: await run(services, row) });
  } catch (error) {
    if (isPassing(error)) throw error;
    const text = failureOf(error);
    if (text === UNEXPECTED) services.log.error('an import failed', error, { import_id: id });
    else services.log.info('an import failed', { import_id: id, error: text });
    await end({ status: 'failed', error: text });
  }
}
