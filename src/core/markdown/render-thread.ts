/** The thread that renders long texts: whatever somebody has thought out to make it slow, the requests of others go on. */
import { parentPort } from 'node:worker_threads';
import { type Dialect, renderDocument } from './engine.ts';

parentPort?.on('message', ({ id, text, dialect }: { id: number; text: string; dialect: Dialect }) => {
  parentPort?.postMessage({ id, rendered: renderDocument(text, dialect) });
});
