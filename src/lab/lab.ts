/** A lab: one database server, and instances that come and go, one of them always prepared before it is asked for. */
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { launchEmbedded } from '../platform/db/embedded/embedded.ts';
import { ephemeralSettings } from '../platform/db/embedded/ephemeral.ts';
import { randomHex, randomText } from '../platform/secret.ts';
import { makeLabFolder } from './lab-folder.ts';
import type { Described, InstanceOptions, LabHandlers, ThreadData, ThreadHandlers, User } from './types.ts';
import { LabError, openWire, type Wire } from './wire.ts';

export type Lab = {
  /** For whoever started it, and for the instances. */
  handlers: LabHandlers;
  /** Instances that run, or begin to. */
  count(): number;
  /** Ends everything; nothing is left. */
  close(): Promise<void>;
};

type Thread = { worker: Worker; wire: Wire<ThreadHandlers>; ended: Promise<void> };
type Running = { thread: Thread; url: string | undefined };

const MAX_INSTANCES = 50;

/** MiB of a thread's young objects: by itself, the engine gives each thread three times as many when the app is loaded. */
const YOUNG_MB = 8;

/** For the databases' connections: an app has up to 28, and two apps are there while one takes the other's place. */
const settings = { ...ephemeralSettings, max_connections: '1000' };

/** `onFailure` is told of what ends the whole lab. */
export async function createLab(options: { host: string; onFailure(error: Error): void }): Promise<Lab> {
  const folder = await makeLabFolder();
  const launched = await launchEmbedded(join(folder.path, 'server'), { settings });
  const root: User = { username: 'root', password: randomText(18), token: `glpat-${randomText(15)}` };
  const secretKey = randomHex(32);
  let isClosing = false;
  const close = async (): Promise<void> => {
    isClosing = true;
    await Promise.all([...threads].map(({ worker }) => worker.terminate()));
    await launched.stop();
    await folder.remove();
  };
  const threads = new Set<Thread>();
  const running = new Map<string, Running>();
  let instances = 0;
  const { TEMPLATE, makeTemplate } = await import('./template.ts');

  const handlers: LabHandlers = {
    start: (wanted) => start(wanted),
    stop: (name) => stop(name),
    control: ({ instance, order }) => found(instance).wire.ask('control', order),
    list: async () => [...running].flatMap(([name, { url }]) => (url === undefined ? [] : [{ name, url }])),
  };

  function open(): Thread {
    instances += 1;
    const workerData: ThreadData = {
      server: launched.connection,
      template: TEMPLATE,
      folder: join(folder.path, `${instances}`),
      secretKey,
      root,
      host: options.host,
    };
    const worker = new Worker(new URL(`./instance-thread${extname(import.meta.url)}`, import.meta.url), {
      workerData,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    const wire = openWire<ThreadHandlers>(
      {
        send: (message) => worker.postMessage(message),
        receive: (listener) => worker.on('message', listener),
      },
      handlers,
    );
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const thread = { worker, wire, ended };
    threads.add(thread);
    worker.on('error', (error) => process.stderr.write(`ashlar: an instance failed: ${error.stack}\n`));
    worker.once('exit', () => {
      wire.close(new LabError('the instance has ended', 410));
      threads.delete(thread);
      for (const [name, each] of running) if (each.thread === thread) running.delete(name);
      if (thread === spare) spare = undefined;
      resolve();
    });
    return thread;
  }

  /** Loads the app while others wait for the database. */
  let spare: Thread | undefined = open();

  function prepare(): void {
    if (isClosing || spare !== undefined) return;
    spare = open();
    spare.wire.ask('warm', null).catch(() => undefined);
  }

  async function start(wanted: InstanceOptions): Promise<Described> {
    if (running.size >= MAX_INSTANCES)
      throw new LabError(`there are ${MAX_INSTANCES} instances already`, 422);
    const name = wanted.name ?? nameFor(running);
    if (running.has(name)) throw new LabError(`an instance is called ${name} already`, 409);
    const thread = spare ?? open();
    spare = undefined;
    running.set(name, { thread, url: undefined });
    try {
      const described = await thread.wire.ask('open', { ...wanted, name });
      running.set(name, { thread, url: described.url });
      return described;
    } catch (error) {
      running.delete(name);
      await end(thread).catch(() => undefined);
      throw error;
    } finally {
      prepare();
    }
  }

  function found(name: string): Thread {
    const instance = running.get(name);
    if (instance?.url === undefined) throw new LabError(`no instance is called ${name}`, 404);
    return instance.thread;
  }

  async function stop(name: string): Promise<void> {
    const thread = found(name);
    running.delete(name);
    await end(thread);
  }

  /** What it has goes first: its databases would stay as long as the lab. */
  async function end({ wire, worker, ended }: Thread): Promise<void> {
    try {
      await wire.ask('stop', null);
    } finally {
      await worker.terminate();
      await ended;
    }
  }

  try {
    void launched.exited.then(() => {
      if (!isClosing) options.onFailure(new Error('the database of the lab ended'));
    });
    await launched.ready();
    await makeTemplate(launched.connection, folder.path, { root, secretKey });
  } catch (error) {
    await close();
    throw error;
  }
  return { handlers, count: () => running.size, close };
}

function nameFor(running: ReadonlyMap<string, unknown>): string {
  let number = running.size + 1;
  while (running.has(`instance-${number}`)) number += 1;
  return `instance-${number}`;
}
