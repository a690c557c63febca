/** Threads for work that would hold the event loop: few, shared fairly among callers, and ended when nothing is to do. */
import { type Transferable, Worker } from 'node:worker_threads';
import { createShare, type ShareLimits } from './fair-share.ts';

export type ThreadLimits = {
  /** The module that a thread runs: it answers each message with one message. */
  file: URL;
  /** As many threads as there are places. */
  share: ShareLimits;
  /** MiB of its heap; a thread that needs more ends, and its question is given up. */
  memoryMb: number;
  /** How long a thread without work stays; none at all where each leaves much behind. */
  idleMs?: number;
};

export type Threads<Question, Answer> = {
  /** The answer, or undefined where it takes longer than `timeoutMs` or more memory than a thread has. 429 or 503 as a share. */
  ask(request: Question, timeoutMs: number, transfer?: Transferable[]): Promise<Answer | undefined>;
};

/** MiB of a thread's young objects: a thread of the default size keeps several times as many. */
const YOUNG_MB = 16;
/** A thread holds tens of MiB. */
const IDLE_MS = 5_000;

type Idle = { worker: Worker; timer: NodeJS.Timeout };

/** Threads that run a module; none is started before the first question. */
export function createThreads<Question, Answer>(limits: ThreadLimits): Threads<Question, Answer> {
  const { idleMs = IDLE_MS } = limits;
  const share = createShare(limits.share);
  const idle: Idle[] = [];

  function open(): Worker {
    const worker = new Worker(limits.file, {
      resourceLimits: { maxOldGenerationSizeMb: limits.memoryMb, maxYoungGenerationSizeMb: YOUNG_MB },
    });
    // Also when it fails between two questions, which must not end the program.
    worker.on('error', () => forget(worker));
    worker.on('exit', () => forget(worker));
    return worker;
  }

  function forget(worker: Worker): void {
    const index = idle.findIndex((one) => one.worker === worker);
    if (index >= 0) clearTimeout(idle.splice(index, 1)[0]?.timer);
  }

  function rest(worker: Worker): void {
    worker.unref();
    const timer = setTimeout(() => {
      forget(worker);
      void worker.terminate();
    }, idleMs).unref();
    idle.push({ worker, timer });
  }

  function take(): Worker {
    const last = idle.pop();
    clearTimeout(last?.timer);
    last?.worker.ref();
    return last?.worker ?? open();
  }

  async function askOne(
    request: Question,
    timeoutMs: number,
    transfer: Transferable[],
  ): Promise<Answer | undefined> {
    const worker = take();
    const { promise, resolve, reject } = Promise.withResolvers<Answer | undefined>();
    const failed = (error: NodeJS.ErrnoException): void =>
      error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? resolve(undefined) : reject(error);
    const ended = (): void => reject(new Error(`the thread of ${limits.share.of} ended`));
    const timer = setTimeout(() => resolve(undefined), timeoutMs);
    worker.once('message', resolve).once('error', failed).once('exit', ended);
    worker.postMessage(request, transfer);
    let response: Answer | undefined;
    try {
      response = await promise;
      return response;
    } finally {
      clearTimeout(timer);
      worker.off('message', resolve).off('error', failed).off('exit', ended);
      if (response === undefined || idleMs === 0) await worker.terminate();
      else rest(worker);
    }
  }

  return {
    ask: (request, timeoutMs, transfer = []) => share.run(() => askOne(request, timeoutMs, transfer)),
  };
}
