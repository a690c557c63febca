/** Sends a finished export to where its request said. */
import { outboundFetch } from '../../../kernel/api/outbound-fetch.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Task } from '../../../platform/jobs/jobs.ts';
import { OutboundFailure } from '../../../platform/outbound/outbound.ts';
import { unseal } from '../../../platform/secret.ts';
import type { Upload } from './actions.ts';
import { selectExport } from './queries.ts';

const TIMEOUT_MS = 3_600_000;

/** A refusal that another try would get again. */
const isFinal = (error: unknown): boolean => error instanceof OutboundFailure && error.reason === 'address';

export function uploadTask(
  services: Needs<'blobs' | 'database' | 'log' | 'outbound' | 'secretKey' | 'settings'>,
): Task {
  return async ({ export_id }) => {
    const row = await selectExport(services.database.background, Number(export_id));
    if (!row?.sha256 || row.upload_sealed === null || row.status !== 'finished') return;
    const blob = await services.blobs.open(row.sha256);
    if (!blob) return;
    // Written by requestExport() alone.
    const { url, method } = JSON.parse(unseal(services.secretKey, row.upload_sealed)) as Upload;
    try {
      const { status } = await outboundFetch(services, await services.settings.read())(url, {
        method,
        headers: { 'content-type': 'application/gzip', 'content-length': String(blob.size) },
        body: () => blob.stream(),
        timeoutMilliseconds: TIMEOUT_MS,
        maximumBytes: 65_536,
        cutAnswer: true,
      });
      if (status >= 300) throw new Error(`the server answered ${status}`);
    } catch (error) {
      if (!isFinal(error)) throw error;
      services.log.error('an export could not be sent', error, { export_id: row.id });
    } finally {
      await blob.close();
    }
  };
}
