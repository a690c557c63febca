/**
 * This process among those that share the database: as long as its heart beats, what it holds is its own. What a dead one
 * held goes with its row.
 */
import { randomUUID } from 'node:crypto';
import type postgres from 'postgres';
import type { Log } from '../log.ts';

export type Presence = {
  readonly id: string;
  /** Announces the process; to be awaited before it holds anything. */
  announce(): Promise<void>;
  stop(): Promise<void>;
};

const BEAT_MILLISECONDS = 2_500;

/** Seconds without a beat after which a process is taken for dead. */
export const DEAD_AFTER_SECONDS = 10;

/** Nothing is sent before the first announce(). */
export function createPresence(sql: postgres.Sql, log: Log): Presence {
  const id = randomUUID();
  let timer: NodeJS.Timeout | undefined;
  let announced: Promise<unknown> | undefined;
  const beat = () => sql`
    insert into processes (id, beat_at) values (${id}, clock_timestamp())
    on conflict (id) do update set beat_at = excluded.beat_at`;
  const beatAgain = () => {
    beat()
      .then(
        () =>
          sql`delete from processes where beat_at < clock_timestamp() - make_interval(secs => ${DEAD_AFTER_SECONDS * 6})`,
      )
      .catch((error: unknown) => log.error('heartbeat failed', error));
  };
  return {
    id,
    async announce() {
      announced ??= beat().then(
        () => {
          timer = setInterval(beatAgain, BEAT_MILLISECONDS);
          timer.unref();
        },
        (error: unknown) => {
          announced = undefined;
          throw error;
        },
      );
      await announced;
    },
    async stop() {
      clearInterval(timer);
      if (!announced) return;
      await announced.catch(() => {});
      await sql`delete from processes where id = ${id}`.catch(() => {});
    },
  };
}

/** Forgets every process: for whoever knows that no other can be there. */
export const forgetProcesses = async (sql: postgres.Sql): Promise<void> => {
  await sql`delete from processes`;
};
