/** Databases and data folders of an instance: clones that are made, some of them in advance, and removed in the background. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { PoolSql } from '../platform/db/driver/sql.ts';
import type { Log } from '../platform/log.ts';
import { randomHex } from '../platform/secret.ts';
import { createThreads } from '../platform/threads.ts';
import type { CopyOrder } from './copy-thread.ts';
import { cloneDatabase, dropDatabase } from './databases-actions.ts';
import type { Clone } from './types.ts';

/** What an instance is taken back to. */
export type Snapshot = {
  place: Clone;
  /** A clone that nobody uses yet. */
  next: Promise<Clone>;
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

export type Clones = {
  clone(place: Clone): Promise<Clone>;
  /** Its failure is told to whoever wants the clone. */
  cloneInAdvance(place: Clone): Promise<Clone>;
  remove(place: Clone): Promise<unknown>;
  /** Not while it is being cloned. */
  forget(snapshot: Snapshot): Promise<void>;
  /** Goes on in the background. */
  later(work: Promise<unknown>): void;
  /** All that went on in the background is over. */
  ended(): Promise<unknown>;
};

/** They are in this folder; a clone of what has no folder has an empty one. */
export function createClones(admin: PoolSql, parent: string, log: Log): Clones {
  const leaving = new Set<Promise<unknown>>();

  async function clone({ database, folder }: Clone): Promise<Clone> {
    const name = `lab_${randomHex(8)}`;
    const place = { database: name, folder: join(parent, name) };
    await Promise.all([
      cloneDatabase(admin, database, name),
      folder === '' ? mkdir(place.folder, { mode: 0o700 }) : copyFolder({ from: folder, to: place.folder }),
    ]);
    return place;
  }

  function cloneInAdvance(place: Clone): Promise<Clone> {
    const next = clone(place);
    next.catch(() => undefined);
    return next;
  }

  const remove = ({ database, folder }: Clone): Promise<unknown> =>
    Promise.all([dropDatabase(admin, database), rm(folder, { recursive: true, force: true, maxRetries: 5 })]);

  async function forget({ place, next }: Snapshot): Promise<void> {
    await next.then(remove, () => undefined);
    await remove(place);
  }

  function later(work: Promise<unknown>): void {
    const over = work.catch((error: unknown) => log.error('something of before is left', error));
    leaving.add(over);
    void over.then(() => leaving.delete(over));
  }

  return { clone, cloneInAdvance, remove, forget, later, ended: () => Promise.all(leaving) };
}
