/** The library `ashlar/lab`: one lab for all that a process starts, which ends with that process. It is built as CommonJS, which every test runner loads. */
import childProcess, { type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolder } from '../package.ts';
import type * as Api from './lab.cjs';
import type { InstanceOptions, LabHandlers } from './types.ts';
import { lines, openWire, type Wire } from './wire.ts';

/** Rejects where the lab has ended. */
type Ask = Wire<LabHandlers>['ask'];

class LabEnded extends Error {}

const program = join(packageFolder, 'bin', 'ashlar.js');

/**
 * Where the lab of this process is kept: a test runner loads this module anew for each file, but modules of Node once, and the
 * files shall share the lab.
 */
const place = childProcess as unknown as Record<symbol, Ask | undefined>;
const key = Symbol.for(`ashlar/lab ${program}`);

/** Characters of what the lab said that are shown when it fails. */
const MAX_SAID = 4_096;

/** While somebody waits for it, the lab keeps this process going, and otherwise it does not. */
function hold(child: ChildProcess): { take(): void; leave(): void } {
  const handles = [child, child.stdin, child.stdout, child.stderr] as unknown as {
    ref(): void;
    unref(): void;
  }[];
  let waiting = 0;
  const leave = (): void => {
    waiting -= 1;
    if (waiting === 0) for (const handle of handles) handle.unref();
  };
  return {
    take() {
      waiting += 1;
      if (waiting === 1) for (const handle of handles) handle.ref();
    },
    leave,
  };
}

function launch(): Ask {
  const child = childProcess.spawn(process.execPath, [program, 'lab', '--library'], {
    stdio: ['pipe', 'pipe', 'pipe'],
    // Settings of the lab are those that it is started with; those of tests are not for it.
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR },
  });
  const holding = hold(child);
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-MAX_SAID);
  });
  const wire = openWire<LabHandlers>(lines(child.stdout, child.stdin), {});
  const end = (reason: string): void => {
    if (place[key] === ask) place[key] = undefined;
    wire.close(new LabEnded(`the lab ended: ${reason}`));
  };
  child.once('error', (error) => end(error.message));
  child.once('close', () => end(said.trim()));
  child.stdin.on('error', () => undefined);
  const ask: Ask = (name, value) => {
    holding.take();
    return wire.ask(name, value).finally(holding.leave);
  };
  return ask;
}

function labOfProcess(): Ask {
  place[key] ??= launch();
  return place[key];
}

/** A file is found from where the tests run, and not from where the lab does. */
function seedOf(seed: Api.Options['seed']): InstanceOptions['seed'] {
  if (seed === undefined) return undefined;
  if (typeof seed === 'string') return { text: readFileSync(seed, 'utf8'), name: seed };
  return { text: JSON.stringify(seed, null, 2), name: 'seed' };
}

const textOf = (time: Date | string): string => (typeof time === 'string' ? time : time.toISOString());

async function startIn(ask: Ask, options: Api.Options): Promise<Api.Ashlar> {
  const { name, url, token, users } = await ask('start', { ...options, seed: seedOf(options.seed) });
  // Its routes answer as their types in lab.d.cts say.
  const control = async <Answer>(request: string, body?: unknown): Promise<Answer> =>
    (await ask('control', { instance: name, order: { request, body } })).body as Answer;
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    // With the lab, all of it has ended.
    stopping ??= ask('stop', name).catch((error: unknown) => {
      if (!(error instanceof LabEnded)) throw error;
    });
    return stopping;
  };
  return {
    url,
    token,
    users,
    describe: () => control('GET /seed'),
    reset: () => control('POST /reset'),
    snapshot: (snapshot) => control(`PUT /snapshots/${encodeURIComponent(snapshot)}`),
    restore: (snapshot) => control(`POST /snapshots/${encodeURIComponent(snapshot)}/restore`),
    faults: {
      add: (rule) => control('POST /faults', rule),
      list: () => control('GET /faults'),
      remove: (id) => control(`DELETE /faults/${id}`),
      clear: () => control('DELETE /faults'),
    },
    log: { list: () => control('GET /requests'), clear: () => control('DELETE /requests') },
    mail: { list: () => control('GET /mail'), clear: () => control('DELETE /mail') },
    hooks: {
      url: (receiver, { status = 200 } = {}) =>
        `${url}/-/lab/hooks/${encodeURIComponent(receiver)}${status === 200 ? '' : `?status=${status}`}`,
      list: (receiver) =>
        control(receiver === undefined ? 'GET /hooks' : `GET /hooks/${encodeURIComponent(receiver)}`),
      clear: () => control('DELETE /hooks'),
    },
    clock: {
      now: async () => new Date((await control<{ now: string }>('GET /clock')).now),
      set: async (time) => void (await control('PUT /clock', { now: textOf(time) })),
      advance: async (by) => void (await control('POST /clock/advance', by)),
      freeze: async (time) =>
        void (await control('PUT /clock', {
          frozen: true,
          ...(time !== undefined && { now: textOf(time) }),
        })),
      resume: async () => void (await control('PUT /clock', { frozen: false })),
      clear: () => control('DELETE /clock'),
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

export const startAshlar: typeof Api.startAshlar = async (options = {}) => {
  const ask = place[key];
  try {
    return await startIn(labOfProcess(), options);
  } catch (error) {
    // It may have been about to end, as nobody had used it for a while.
    if (ask === undefined || !(error instanceof LabEnded)) throw error;
    return startIn(labOfProcess(), options);
  }
};
