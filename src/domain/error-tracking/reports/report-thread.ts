/** The thread that parses reports, so that a costly one does not delay requests. */
import { parentPort } from 'node:worker_threads';
import { type Arrived, readReport } from './report.ts';

parentPort?.on('message', ({ id, arrived }: { id: number; arrived: Arrived }) => {
  const outcome = readReport(arrived);
  const moved = typeof outcome !== 'string' && outcome.instead ? [outcome.instead.buffer] : [];
  parentPort?.postMessage({ id, outcome }, moved);
});
