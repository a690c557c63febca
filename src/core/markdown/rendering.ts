/** Where a text is rendered: a short one at once, a long one in a thread that is stopped when it takes too long. */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Failure } from '../../platform/failure.ts';
import type { Dialect } from './engine.ts';
import { asWritten, type Rendered } from './rendered.ts';

/** Characters of a text that takes some tens of milliseconds at the very worst. */
const SHORT = 8_192;
/** Milliseconds for one long text. */
const LONGEST = 5_000;
/** Milliseconds after which a thread without work ends: it holds tens of MiB. */
const IDLE = 30_000;
/** MiB that one text may take while it is rendered. */
const MOST_MEMORY = 256;
/** Long texts that wait for their turn; whoever comes then is told so at once. */
const MOST_WAITING = 20;

let waiting = 0;
let turn: Promise<unknown> = Promise.resolve();
let thread: Worker | undefined;
let idle: NodeJS.Timeout | undefined;
let asked = 0;

/**
 * The text as HTML with its references open; one that takes more than `longest` milliseconds, or too much memory, is shown as
 * it was written. 503 when too many wait.
 */
export async function renderSource(text: string, dialect: Dialect, longest = LONGEST): Promise<Rendered> {
  if (text.length <= SHORT) {
    const { renderDocument } = await import('./engine.ts');
    return renderDocument(text, dialect);
  }
  if (waiting >= MOST_WAITING) {
    const headers = { 'retry-after': '5' };
    throw new Failure('unavailable', '503 Service Unavailable: too many texts to render', { headers });
  }
  waiting += 1;
  const rendered = turn.then(() => renderInThread(text, dialect, longest));
  turn = rendered.catch(() => undefined);
  try {
    return await rendered;
  } finally {
    waiting -= 1;
  }
}

async function renderInThread(text: string, dialect: Dialect, longest: number): Promise<Rendered> {
  clearTimeout(idle);
  thread ??= openThread();
  const worker = thread;
  const id = ++asked;
  const { promise, resolve, reject } = Promise.withResolvers<Rendered | undefined>();
  const answered = (message: { id: number; rendered: Rendered }): void => {
    if (message.id === id) resolve(message.rendered);
  };
  const failed = (error: NodeJS.ErrnoException): void =>
    error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? resolve(undefined) : reject(error);
  const timer = setTimeout(() => resolve(undefined), longest);
  worker.on('message', answered);
  worker.on('error', failed);
  worker.postMessage({ id, text, dialect });
  try {
    const rendered = await promise;
    if (rendered) return rendered;
    await end(worker);
    return asWritten(text);
  } catch (error) {
    await end(worker);
    throw error;
  } finally {
    clearTimeout(timer);
    worker.off('message', answered);
    worker.off('error', failed);
    if (thread === worker) {
      idle = setTimeout(() => void end(worker), IDLE);
      idle.unref();
      worker.unref();
    }
  }
}

function openThread(): Worker {
  const worker = new Worker(new URL(`./render-thread${extname(import.meta.url)}`, import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: MOST_MEMORY },
  });
  // Also when it fails while nobody waits for it, which must not end the program.
  worker.on('error', () => void end(worker));
  return worker;
}

async function end(worker: Worker): Promise<void> {
  if (thread === worker) thread = undefined;
  await worker.terminate();
}
