/** The thread that renders long texts: however slow a text was made to be, the requests of others go on. */
import { parentPort } from 'node:worker_threads';
import { type Dialect, renderDocument } from './engine.ts';

parentPort?.on('message', ({ text, dialect }: { text: string; dialect: Dialect }) => {
  parentPort?.postMessage(renderDocument(text, dialect));
});
