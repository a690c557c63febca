/** The thread that looks into reports as they come: whatever is packed in one, the requests of others go on. */
import { parentPort } from 'node:worker_threads';
import { type Arrived, readReport } from './report.ts';

parentPort?.on('message', ({ id, arrived }: { id: number; arrived: Arrived }) => {
  const outcome = readReport(arrived);
  const moved = typeof outcome !== 'string' && outcome.instead ? [outcome.instead.buffer] : [];
  parentPort?.postMessage({ id, outcome }, moved);
});
