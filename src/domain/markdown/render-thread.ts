/** The thread that renders long texts: a slow text does not block other requests. */
import { parentPort } from 'node:worker_threads';
import { type Dialect, renderDocument } from './engine.ts';
import { scannerOf } from './tracker-names.ts';

parentPort?.on('message', async ({ text, dialect }: { text: string; dialect: Dialect }) => {
  parentPort?.postMessage(renderDocument(text, dialect, await scannerOf(dialect.trackerNames)));
});
