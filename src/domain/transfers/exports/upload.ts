/** Sends a finished export to where its request said. */
import { outboundFetch } from '../../../kernel/api/outbound-fetch.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Task } from '../../../platform/jobs/jobs.ts';
import { OutboundFailure } from '../../../platform/outbound/outbound.ts';
import { unseal } from '../../../platform/secret.ts';
import { findUserOfProject } from '../../conversation/index.ts';
import type { KeptUpload } from './actions.ts';
import { selectExport } from './queries.ts';

/** Between two pieces that the server takes, and of all of it. */
const SILENCE_MS = 60_000;
const LONGEST_MS = 3_600_000;

/** A refusal that another try would get again, and a time that no other archive is to wait for again. */
const isFinal = (error: unknown): boolean =>
  error instanceof OutboundFailure && (error.reason === 'address' || error.reason === 'timeout');

export function uploadTask(
  services: Needs<'blobs' | 'database' | 'log' | 'outbound' | 'secretKey' | 'settings'>,
): Task {
  return async ({ export_id }) => {
    const row = await selectExport(services.database.background, Number(export_id));
    if (!row?.sha256 || row.upload_sealed === null || row.status !== 'finished') return;
    // Written by requestExport() alone.
    const upload = JSON.parse(unseal(services.secretKey, row.upload_sealed)) as KeptUpload;
    // The role may be gone that the export was asked for with.
    const { project_id, user_id } = row;
    const user =
      project_id === null || user_id === null
        ? undefined
        : await findUserOfProject(services, project_id, user_id, upload);
    if (!user?.project.may('export_project')) return;
    const blob = await services.blobs.open(row.sha256);
    if (!blob) return;
    const longest = AbortSignal.timeout(LONGEST_MS);
    const { url, method } = upload;
    try {
      const { status } = await outboundFetch(services, await services.settings.read())(url, {
        method,
        headers: { 'content-type': 'application/gzip', 'content-length': String(blob.size) },
        body: () => blob.stream(),
        timeoutMilliseconds: SILENCE_MS,
        signal: longest,
        maximumBytes: 65_536,
        cutAnswer: true,
      });
      if (status >= 300) throw new Error(`the server answered ${status}`);
    } catch (error) {
      if (!isFinal(error) && !longest.aborted) throw error;
      services.log.error('an export could not be sent', error, { export_id: row.id });
    } finally {
      await blob.close();
    }
  };
}
