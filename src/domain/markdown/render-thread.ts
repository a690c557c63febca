/** The thread that renders long texts: a slow text does not block other requests. */
import { parentPort } from 'node:worker_threads';
import { type Dialect, renderDocument } from './engine.ts';

parentPort?.on('message', ({ text, dialect }: { text: string; dialect: Dialect }) => {
  parentPort?.postMessage(renderDocument(text, dialect));
});
