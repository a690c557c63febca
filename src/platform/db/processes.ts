/**
 * This process among those that share the database: as long as its heart beats, what it holds is its own. What a dead one
 * held goes with its row; the row stays while it says which repositories the process was writing to when it died.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { sql } from 'kysely';
import type { Log } from '../log.ts';
import type { Db } from './database.ts';
import type { Sql } from './driver/sql.ts';

export type Presence = {
  readonly id: string;
  /** Announces the process; to be awaited before it holds anything. */
  announce(): Promise<void>;
  /** Whether no other process can be at work on the database. */
  isAlone(): Promise<boolean>;
  stop(): Promise<void>;
};

const BEAT_INTERVAL_MS = 2_500;

/** Seconds without a beat after which a process is taken for dead. */
export const DEAD_AFTER_SECONDS = 10;

/** After so many it is forgotten: what it may have left half-done is others' to settle. */
export const REMOVED_AFTER_SECONDS = DEAD_AFTER_SECONDS * 6;

/** Nothing is sent before the first announce(). `points` must be a connection that nobody holds for long. */
export function createPresence(points: Sql, log: Log): Presence {
  const id = randomUUID();
  let timer: NodeJS.Timeout | undefined;
  let announced: Promise<unknown> | undefined;
  // A beat that is lost with the database is followed by the next; nobody need wait for the disk.
  const beat = async (): Promise<void> => {
    await points`
      with soon as (select set_config('synchronous_commit', 'off', true))
      insert into processes (id, beat_at, started_at, host, pid)
      select ${id}::uuid, clock_timestamp(), clock_timestamp(), ${hostname()}, ${process.pid} from soon
      on conflict (id) do update set beat_at = excluded.beat_at`;
  };
  const nothingUnsettled = () => points`
    not exists (select from repository_uses where process_id = processes.id and purpose = 'write')`;
  const forgetDead = () => points`
    delete from processes
    where beat_at < clock_timestamp() - make_interval(secs => ${REMOVED_AFTER_SECONDS}) and ${nothingUnsettled()}`;
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
    async isAlone() {
      const others = await points`
        select from processes
        where id <> ${id} and beat_at > clock_timestamp() - make_interval(secs => ${REMOVED_AFTER_SECONDS}) limit 1`;
      return others.length === 0;
    },
    async stop() {
      clearInterval(timer);
      if (!announced) return;
      await announced.catch(() => {});
      await points`delete from processes where id = ${id} and ${nothingUnsettled()}`.catch(() => {});
    },
  };

  async function begin(): Promise<void> {
    try {
      await beat();
      timer = setInterval(beatAgain, BEAT_INTERVAL_MS);
      timer.unref();
    } catch (error) {
      announced = undefined;
      throw error;
    }
  }
}

/** Takes every process for dead: for whoever knows that no other can be there. */
export const forgetProcesses = async (db: Db): Promise<void> => {
  await sql`update processes set beat_at = '-infinity'`.execute(db);
};
