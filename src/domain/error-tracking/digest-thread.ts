/** The thread that digests reports: whatever somebody has put into one, the requests of others go on. */
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { digestReport, type ReportRow } from './digest-report.ts';

const personKey = String(workerData);

/** Of 19 that there are: then it has a tenth of what the others have, and all that they leave. */
const STEP_BACK = 10;

/** Nobody waits for a digest: where processors are few, all others go first. */
function stepBack(): void {
  try {
    // Priorities are of threads where this file is.
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), STEP_BACK);
  } catch {
    // Elsewhere it is one of many.
  }
}
stepBack();

parentPort?.on('message', ({ id, report }: { id: number; report: ReportRow }) => {
  const digested = digestReport(report, personKey);
  const moved = digested.events.map(({ payload }) => payload.buffer);
  parentPort?.postMessage({ id, digested }, moved);
});
// A thread that ends before this is not ended by a report.
parentPort?.postMessage({ isReady: true });
