/**
 * This process among those that share the database: as long as its heart beats, what it holds is its own. What a dead one
 * held goes with its row.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { monotonic } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Db } from './database.ts';

export type Presence = {
  readonly id: string;
  /** Announces the process; to be awaited before it holds anything. */
  announce(): Promise<void>;
  /** Whether others may have taken it for dead at some time since then (monotonic), though it was not. */
  lapsedSince(time: number): boolean;
  stop(): Promise<void>;
};

const BEAT_MILLISECONDS = 2_500;

/** Seconds without a beat after which a process is taken for dead. */
export const DEAD_AFTER_SECONDS = 10;
/** The last second is for beats that are under way. */
const LAPSE_MILLISECONDS = (DEAD_AFTER_SECONDS - 1) * 1_000;

/** Nothing is sent before the first announce(). The pool must be one that requests cannot exhaust. */
export function createPresence(db: Db, log: Log): Presence {
  const id = randomUUID();
  let timer: NodeJS.Timeout | undefined;
  let announced: Promise<unknown> | undefined;
  let beatAt = monotonic();
  let lapsedAt = Number.NEGATIVE_INFINITY;
  async function beat(): Promise<void> {
    const sentAt = monotonic();
    await sql`
      insert into processes (id, beat_at) values (${id}, clock_timestamp())
      on conflict (id) do update set beat_at = excluded.beat_at`.execute(db);
    if (sentAt - beatAt > LAPSE_MILLISECONDS) lapsedAt = monotonic();
    beatAt = sentAt;
  }
  const forgetDead = () =>
    sql`
    delete from processes
    where beat_at < clock_timestamp() - make_interval(secs => ${DEAD_AFTER_SECONDS * 6})`.execute(db);
  const beatAgain = () => {
    beat()
      .then(forgetDead)
      .catch((error: unknown) => log.error('heartbeat failed', error));
  };
  return {
    id,
    async announce() {
      announced ??= begin();
      await announced;
    },
    lapsedSince: (time) => lapsedAt > time || monotonic() - beatAt > LAPSE_MILLISECONDS,
    async stop() {
      clearInterval(timer);
      if (!announced) return;
      await announced.catch(() => {});
      await sql`delete from processes where id = ${id}`.execute(db).catch(() => {});
    },
  };

  async function begin(): Promise<void> {
    try {
      beatAt = monotonic();
      await beat();
      timer = setInterval(beatAgain, BEAT_MILLISECONDS);
      timer.unref();
    } catch (error) {
      announced = undefined;
      throw error;
    }
  }
}

/** Forgets every process: for whoever knows that no other can be there. */
export const forgetProcesses = async (db: Db): Promise<void> => {
  await db.deleteFrom('processes').execute();
};
