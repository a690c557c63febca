/** The thread that digests reports: whatever somebody has put into one, the requests of others go on. */
import { parentPort, workerData } from 'node:worker_threads';
import { digestReport, type ReportRow } from './digest-report.ts';

const personKey = String(workerData);

parentPort?.on('message', ({ id, report }: { id: number; report: ReportRow }) => {
  const digested = digestReport(report, personKey);
  const moved = digested.events.map(({ payload }) => payload.buffer);
  parentPort?.postMessage({ id, digested }, moved);
});
// A thread that ends before this is not ended by a report.
parentPort?.postMessage({ isReady: true });
