/**
 * An instance: an app on a clone of the template, behind a server that stays. What takes it back is another app on
 * another clone, so that nothing of before is left, and the next clone is made in advance.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type App, createApp } from '../app.ts';
import { type Config, readConfig } from '../kernel/config.ts';
import { type Clock, now, setClock } from '../platform/clock.ts';
import { createLog, type Log } from '../platform/log.ts';
import { setDatabaseClock } from './clock/clock-actions.ts';
import { advancedBy, type ClockTime, setBy } from './clock/rules.ts';
import { keepSchedules, runSchedules, settled } from './clock/schedules.ts';
import { createClones, type Snapshot } from './clones.ts';
import { ask, type Control, type ControlAnswer } from './control.ts';
import { connectToAdminister } from './databases-actions.ts';
import { createFaults } from './faults/faults.ts';
import { createFront, type Front } from './front.ts';
import { createReceivers } from './hooks.ts';
import { listMails, removeMails } from './mail.ts';
import { createRequests } from './requests.ts';
import { selectTokenNames } from './requests-queries.ts';
import type {
  Clone,
  ControlOrder,
  Described,
  InstanceOptions,
  LabHandlers,
  SeededUser,
  ThreadData,
} from './types.ts';
import { LabError, type Wire } from './wire.ts';

type Generation = {
  place: Clone;
  app: App;
  log: { muted: boolean };
  /** Runs what is scheduled by a clock that is not the machine's. */
  schedules?: NodeJS.Timeout;
  /** Once it is being stopped. */
  stopped?: Promise<void>;
};

const MAX_SNAPSHOTS = 100;
/** Milliseconds for what an app is at when it is taken back, such as a webhook that nobody answers. */
const STOP_TIMEOUT_MS = 10_000;
/** Milliseconds for what a seed sets going in the background; what is left then goes on after each reset. */
const SETTLE_TIMEOUT_MS = 30_000;
/** Milliseconds for what has come due with the clock, before that is said to be done. */
const CATCH_UP_TIMEOUT_MS = 10_000;

export type Instance = {
  warm(): Promise<void>;
  open(options: InstanceOptions & { name: string }): Promise<Described>;
  obey(order: ControlOrder): Promise<ControlAnswer>;
  stop(): Promise<void>;
};

export function createInstance(data: ThreadData, lab: Wire<LabHandlers>['ask']): Instance {
  const admin = connectToAdminister({ ...data.server, database: 'postgres' });
  const log: Log = createLog((text) => process.stderr.write(text));
  const { clone, cloneInAdvance, remove, forget, later, ended } = createClones(admin, data.folder, log);
  const snapshots = new Map<string, Snapshot>();
  let options: InstanceOptions & { name: string } = { name: '' };
  let current: Generation | undefined;
  let front: Front | undefined;
  /** Undefined until it is moved. */
  let clock: Clock | undefined;
  /** Of an earlier moment, for reads that are to be stale. */
  let stale: { place: Clone; app: App } | undefined;
  const faults = createFaults();
  const requests = createRequests();
  const hooks = createReceivers();
  let turn: Promise<unknown> = Promise.resolve();

  /** As the template is: no repository is in it. */
  const empty: Clone = { database: data.template, folder: '' };
  let beginning: Snapshot | undefined;
  /** Not before the template is there. */
  const base = (): Snapshot => {
    beginning ??= { place: empty, next: cloneInAdvance(empty) };
    return beginning;
  };

  const configOf = (place: Clone): Config =>
    readConfig({
      ASHLAR_DATA: place.folder,
      ASHLAR_HOST: data.host,
      ASHLAR_PORT: '0',
      ASHLAR_TIER: options.tier,
      ASHLAR_OFFERING: options.offering,
      NO_PROXY: '*',
    });

  function makeApp(place: Clone, { address }: Front): Generation {
    const said = { muted: false };
    const app = createApp({
      config: configOf(place),
      target: { ...data.server, database: place.database },
      secretKey: data.secretKey,
      front: address,
      log: {
        info: (event, fields) => requests.hear(event, fields),
        error: (event, error, fields) =>
          said.muted || log.error(event, error, { instance: options.name, ...fields }),
      },
    });
    return { place, app, log: said };
  }

  async function begin(place: Clone, open: Front): Promise<Generation> {
    if (clock) await setDatabaseClock(admin, place.database, clock);
    const made = makeApp(place, open);
    await made.app.start();
    if (clock?.offsetMilliseconds) made.schedules = keepSchedules(made.app);
    return made;
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
        clock = undefined;
        setClock();
        const stopped = stopApp(open, old);
        const enough = sleep(STOP_TIMEOUT_MS, undefined, { ref: false });
        const [next] = await Promise.all([begin(place, open), Promise.race([stopped, enough])]);
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
    clearInterval(old.schedules);
    old.stopped ??= open.finished().then(() => old.app.stop());
    return old.stopped;
  }

  /** The app goes on with a clone of what it has, which is returned. */
  async function leave(open: Front, old: Generation): Promise<Clone> {
    await stopApp(open, old);
    const place = await clone(old.place).catch(async (error: unknown) => {
      await goOn(open, old.place);
      throw error;
    });
    await goOn(open, place);
    return old.place;
  }

  async function goOn(open: Front, place: Clone): Promise<Generation> {
    const next = await begin(place, open);
    current = next;
    open.serve(next.app.server.server);
    return next;
  }

  const clockTime = (): ClockTime => ({ now: now(), frozen: clock?.frozenAt !== undefined });

  /**
   * To another app on the same database, which looks anew at all that waits for time; without a time, the machine's. What
   * is due meanwhile is done when this returns, if it does not take long.
   */
  async function changeClock(change: (clock: ClockTime) => ClockTime | undefined): Promise<void> {
    await inTurn(async (open, old) => {
      const before = now();
      const wanted = change(clockTime());
      // Going back, what is due would wait for that time to come again.
      if (wanted === undefined || wanted.now < before) {
        await open.finished();
        await settled(old.app, CATCH_UP_TIMEOUT_MS);
      }
      await stopApp(open, old);
      clock = setClock(wanted);
      const { app } = await goOn(open, old.place);
      await runSchedules(app, before, now());
    });
    const caughtUp = serving();
    await settled(caughtUp.app, CATCH_UP_TIMEOUT_MS).catch((error: unknown) => {
      // Whoever swaps the app next waits for what it is at.
      if (caughtUp === current && caughtUp.stopped === undefined) throw error;
    });
  }

  /** What is now answers the reads of rules for it, by an app that works at nothing in the background. */
  const keepStale = (): Promise<void> =>
    inTurn(async (open, old) => {
      await dropStale();
      const place = await leave(open, old);
      const { app } = makeApp(place, open);
      await app.server.ready();
      stale = { place, app };
      open.serveStale(app.server.server);
    });

  async function dropStale(): Promise<void> {
    const gone = stale;
    stale = undefined;
    front?.serveStale(undefined);
    if (gone) later(gone.app.stop().then(() => remove(gone.place)));
  }

  /** In its turn: a copy may be being made for a rule that is gone meanwhile. */
  const dropUnwanted = (): Promise<void> =>
    inTurn(async () => {
      if (!faults.list().some((rule) => rule.stale)) await dropStale();
    });

  function clearFaults(): Promise<void> {
    faults.clear();
    return dropUnwanted();
  }

  const found = (name: string): Snapshot => {
    const snapshot = snapshots.get(name);
    if (snapshot === undefined) throw new LabError(`no snapshot is called ${name}`, 404);
    return snapshot;
  };

  const control: Control = {
    describe: async () => ({
      name: options.name,
      url: front?.address(),
      tier: options.tier ?? 'ultimate',
      offering: options.offering ?? 'self_managed',
      snapshots: [...snapshots.keys()],
      instances: await lab('list', null),
    }),
    async reset() {
      await clearFaults();
      await restore(base);
      requests.clear();
      hooks.clear();
    },
    /** What was there becomes the snapshot, and the app goes on with a clone of it. */
    snapshot: (name: string) =>
      inTurn(async (open, old) => {
        if (!snapshots.has(name) && snapshots.size >= MAX_SNAPSHOTS)
          throw new LabError(`there are ${MAX_SNAPSHOTS} snapshots already`, 422);
        const place = await leave(open, old);
        const before = snapshots.get(name);
        snapshots.set(name, { place, next: cloneInAdvance(place) });
        if (before) later(forget(before));
      }),
    restore: (name: string) => restore(() => found(name)),
    start: (wanted: InstanceOptions) => lab('start', wanted),
    stop: async (name: string) => {
      if (name === options.name)
        throw new LabError('an instance ends at the address of another one, or with the lab', 409);
      await lab('stop', name);
    },
    describeWorld: async () => {
      const { writeSeed } = await import('./seeds/index.ts');
      return writeSeed(serving().app);
    },
    faults: {
      list: () => faults.list(),
      async add(value) {
        const rule = faults.add(value);
        if (rule.stale)
          await keepStale().catch((error: unknown) => {
            faults.remove(rule.id);
            throw error;
          });
        return rule;
      },
      async remove(id) {
        faults.remove(id);
        await dropUnwanted();
      },
      clear: clearFaults,
    },
    requests: {
      list: () => requests.list((digests) => selectTokenNames(serving().app.services.database.sql, digests)),
      clear: () => requests.clear(),
    },
    mail: {
      list: () => listMails(serving().place.folder),
      clear: () => removeMails(serving().place.folder),
    },
    hooks,
    clock: {
      read: clockTime,
      async set(body) {
        await changeClock((clock) => setBy(clock, body));
        return clockTime();
      },
      async advance(body) {
        await changeClock((clock) => advancedBy(clock, body));
        return clockTime();
      },
      async clear() {
        if (clock) await changeClock(() => undefined);
      },
    },
  };

  function serving(): Generation {
    if (current === undefined) throw new LabError('the instance has stopped', 409);
    return current;
  }

  /** What the seed describes is the beginning from now on. */
  async function plant(
    open: Front,
    { place, app }: Generation,
    { text, name }: NonNullable<InstanceOptions['seed']>,
  ): Promise<Record<string, SeededUser>> {
    const { parseSeed, plantSeed, SeedError } = await import('./seeds/index.ts');
    try {
      const seed = parseSeed(text, name);
      await plantSeed(app, seed);
      await settled(app, SETTLE_TIMEOUT_MS);
      await app.stop();
      beginning = { place, next: cloneInAdvance(place) };
      current = await begin(await clone(place), open);
      return Object.fromEntries(
        (seed.document.users ?? []).map(({ username, password, tokens }) => [
          username,
          { username, ...(password && { password }), ...(tokens?.[0] && { token: tokens[0].value }) },
        ]),
      );
    } catch (error) {
      throw error instanceof SeedError ? new LabError(error.message, 422) : error;
    }
  }

  return {
    async warm() {
      await base().next;
    },
    async open(wanted) {
      options = wanted;
      front = await createFront({ host: data.host, port: wanted.port ?? 0, control, faults, requests });
      const place = await base().next;
      current = await begin(place, front);
      const users = wanted.seed ? await plant(front, current, wanted.seed) : {};
      if (!wanted.seed) base().next = cloneInAdvance(empty);
      front.serve(current.app.server.server);
      const { root } = data;
      return { name: wanted.name, url: front.url, token: root.token, users: { ...users, root } };
    },
    obey: ({ request, body }) => ask(control, request, body),
    async stop() {
      await turn;
      const [open, old] = [front, current];
      front = undefined;
      current = undefined;
      await open?.close();
      await dropStale();
      if (old) {
        old.log.muted = true;
        clearInterval(old.schedules);
        await Promise.race([old.app.stop(), sleep(STOP_TIMEOUT_MS, undefined, { ref: false })]);
        later(remove(old.place));
      }
      for (const snapshot of snapshots.values()) later(forget(snapshot));
      const { place, next } = base();
      later(place === empty ? next.then(remove, () => undefined) : forget({ place, next }));
      await ended();
      await admin.end();
    },
  };
}
