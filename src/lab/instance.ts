/**
 * An instance: an app on a clone of the template, behind a server that stays. What takes it back is another app on
 * another clone, so that nothing of before is left, and the next clone is made in advance.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type App, createApp } from '../app.ts';
import { type Config, readConfig } from '../kernel/config.ts';
import { createLog, type Log } from '../platform/log.ts';
import { randomHex } from '../platform/secret.ts';
import { createThreads } from '../platform/threads.ts';
import { type Control, requireName } from './control.ts';
import type { CopyOrder } from './copy-thread.ts';
import { cloneDatabase, connectToAdminister, dropDatabase } from './databases-actions.ts';
import { createFront, type Front } from './front.ts';
import type { Clone, ControlOrder, Described, InstanceOptions, LabHandlers, ThreadData } from './types.ts';
import { LabError, type Wire } from './wire.ts';

type Snapshot = {
  place: Clone;
  /** A clone that nobody uses yet. */
  next: Promise<Clone>;
};

type Generation = {
  place: Clone;
  app: App;
  log: { muted: boolean };
  /** Once it is being stopped. */
  stopped?: Promise<void>;
};

const MAX_SNAPSHOTS = 100;
/** Milliseconds for what an app is at when it is taken back, such as a webhook that nobody answers. */
const STOP_TIMEOUT_MS = 10_000;

export type Instance = {
  warm(): Promise<void>;
  open(options: InstanceOptions & { name: string }): Promise<Described>;
  obey(order: ControlOrder): Promise<void>;
  stop(): Promise<void>;
};

const copies = createThreads<CopyOrder, { failed?: string }>({
  file: new URL(`./copy-thread${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url),
  share: {
    of: 'copies of data folders',
    places: 1,
    perCaller: 1,
    waitingPerCaller: 1_000,
    waiting: 1_000,
    timeoutMs: 600_000,
  },
  memoryMb: 64,
});

async function copyFolder(order: CopyOrder): Promise<void> {
  const answer = await copies.ask(order, 600_000);
  if (answer?.failed !== undefined) throw new Error(answer.failed);
  if (answer === undefined) throw new Error(`${order.from} was not copied in time`);
}

export function createInstance(data: ThreadData, lab: Wire<LabHandlers>['ask']): Instance {
  const admin = connectToAdminister({ ...data.server, database: 'postgres' });
  const snapshots = new Map<string, Snapshot>();
  let options: InstanceOptions & { name: string } = { name: '' };
  let current: Generation | undefined;
  let front: Front | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  /** What is dropped in the background. */
  const leaving = new Set<Promise<unknown>>();

  /** As the template is: no repository is in it. */
  const empty: Clone = { database: data.template, folder: '' };
  let beginning: Snapshot | undefined;
  /** Not before the template is there. */
  const base = (): Snapshot => {
    beginning ??= { place: empty, next: cloneInAdvance(empty) };
    return beginning;
  };

  async function clone({ database, folder }: Clone): Promise<Clone> {
    const name = `lab_${randomHex(8)}`;
    const place = { database: name, folder: join(data.folder, name) };
    await Promise.all([
      cloneDatabase(admin, database, name),
      folder === '' ? mkdir(place.folder, { mode: 0o700 }) : copyFolder({ from: folder, to: place.folder }),
    ]);
    return place;
  }

  /** Its failure is told to whoever wants the clone. */
  function cloneInAdvance(place: Clone): Promise<Clone> {
    const next = clone(place);
    next.catch(() => undefined);
    return next;
  }

  const remove = ({ database, folder }: Clone): Promise<unknown> =>
    Promise.all([dropDatabase(admin, database), rm(folder, { recursive: true, force: true, maxRetries: 5 })]);

  /** Not while it is being cloned. */
  async function forget({ place, next }: Snapshot): Promise<void> {
    await next.then(remove, () => undefined);
    await remove(place);
  }

  function later(work: Promise<unknown>): void {
    const over = work.catch((error: unknown) => log.error('something of before is left', error));
    leaving.add(over);
    void over.then(() => leaving.delete(over));
  }

  const log: Log = createLog((text) => process.stderr.write(text));

  const configOf = (place: Clone): Config =>
    readConfig({
      ASHLAR_DATA: place.folder,
      ASHLAR_HOST: data.host,
      ASHLAR_PORT: '0',
      ASHLAR_TIER: options.tier,
      ASHLAR_OFFERING: options.offering,
      NO_PROXY: '*',
    });

  async function begin(place: Clone, url: string): Promise<Generation> {
    const said = { muted: false };
    const app = createApp({
      config: configOf(place),
      target: { ...data.server, database: place.database },
      secretKey: data.secretKey,
      front: url,
      log: {
        info: () => {},
        error: (event, error, fields) =>
          said.muted || log.error(event, error, { instance: options.name, ...fields }),
      },
    });
    await app.start();
    return { place, app, log: said };
  }

  /** Runs one after the other; requests wait meanwhile. */
  function inTurn<T>(work: (front: Front, old: Generation) => Promise<T>): Promise<T> {
    const run = turn.then(async () => {
      if (front === undefined || current === undefined) throw new LabError('the instance has stopped', 409);
      const resume = front.pause();
      try {
        return await work(front, current);
      } finally {
        resume();
      }
    });
    turn = run.catch(() => undefined);
    return run;
  }

  /** To the snapshot that is there when it is its turn. */
  const restore = (wanted: () => Snapshot): Promise<void> =>
    inTurn(async (open, old) => {
      const snapshot = wanted();
      try {
        const place = await snapshot.next;
        // Nothing that it was at reaches anybody afterwards, nor the log.
        old.log.muted = true;
        const stopped = stopApp(open, old);
        const enough = sleep(STOP_TIMEOUT_MS, undefined, { ref: false });
        const [next] = await Promise.all([begin(place, open.url), Promise.race([stopped, enough])]);
        current = next;
        open.serve(next.app.server.server);
        // Of what goes on still, the database goes away.
        later(stopped);
      } finally {
        snapshot.next = cloneInAdvance(snapshot.place);
      }
      later(remove(old.place));
    });

  /** Waits for the requests and jobs that it is at. It may have been stopped for what then failed. */
  function stopApp(open: Front, old: Generation): Promise<void> {
    old.stopped ??= open.finished().then(() => old.app.stop());
    return old.stopped;
  }

  const found = (name: string): Snapshot => {
    const snapshot = snapshots.get(name);
    if (snapshot === undefined) throw new LabError(`no snapshot is called ${name}`, 404);
    return snapshot;
  };

  const control: Control = {
    describe: async () => ({
      name: options.name,
      url: front?.url,
      tier: options.tier ?? 'ultimate',
      offering: options.offering ?? 'self_managed',
      snapshots: [...snapshots.keys()],
      instances: await lab('list', null),
    }),
    reset: () => restore(base),
    /** What was there becomes the snapshot, and the app goes on with a clone of it. */
    snapshot: (name: string) =>
      inTurn(async (open, old) => {
        if (!snapshots.has(name) && snapshots.size >= MAX_SNAPSHOTS)
          throw new LabError(`there are ${MAX_SNAPSHOTS} snapshots already`, 422);
        await stopApp(open, old);
        const next = await begin(await clone(old.place), open.url);
        current = next;
        open.serve(next.app.server.server);
        const before = snapshots.get(name);
        snapshots.set(name, { place: old.place, next: cloneInAdvance(old.place) });
        if (before) later(forget(before));
      }),
    restore: (name: string) => restore(() => found(name)),
    start: (wanted: InstanceOptions) => lab('start', wanted),
    stop: async (name: string) => {
      if (name === options.name)
        throw new LabError('an instance ends at the address of another one, or with the lab', 409);
      await lab('stop', name);
    },
  };

  return {
    async warm() {
      await base().next;
    },
    async open(wanted) {
      options = wanted;
      front = await createFront({ host: data.host, port: wanted.port ?? 0, control });
      const place = await base().next;
      current = await begin(place, front.url);
      front.serve(current.app.server.server);
      base().next = cloneInAdvance(empty);
      const { root } = data;
      return { name: wanted.name, url: front.url, token: root.token, users: { root } };
    },
    obey: (order) =>
      order.action === 'reset' ? control.reset() : control[order.action](requireName(order.name)),
    async stop() {
      await turn;
      const [open, old] = [front, current];
      front = undefined;
      current = undefined;
      await open?.close();
      if (old) {
        old.log.muted = true;
        await Promise.race([old.app.stop(), sleep(STOP_TIMEOUT_MS, undefined, { ref: false })]);
        later(remove(old.place));
      }
      for (const snapshot of snapshots.values()) later(forget(snapshot));
      later(base().next.then(remove, () => undefined));
      await Promise.all(leaving);
      await admin.end();
    },
  };
}
