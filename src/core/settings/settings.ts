/** The application settings in force: one row in the database, read again at most once a second by each process. */
import type postgres from 'postgres';
import { monotonic, now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import type { Json } from '../../platform/db/rows.ts';
import { type ApplicationSettings, defaultSettings } from './definitions.ts';

export type SettingsSource = {
  /** The settings now. A change made elsewhere is seen within a second. */
  read(): ApplicationSettings | Promise<ApplicationSettings>;
  /** Merges `changes` into what is stored, in the caller's transaction; read() shows them after forget(). */
  write(tx: Db, changes: Partial<ApplicationSettings>): Promise<void>;
  /** Reads anew at the next use: called after the commit of a change. */
  forget(): void;
};

const MAXIMUM_AGE = 1_000;

export function createSettingsSource(sql: postgres.Sql): SettingsSource {
  let known: ApplicationSettings | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<ApplicationSettings> | undefined;
  let generation = 0;

  async function load(): Promise<ApplicationSettings> {
    const mine = generation;
    try {
      const [row] = await sql<{ values: Partial<ApplicationSettings> }[]>`
        select values from application_settings where id = 1`;
      const loaded = { ...defaultSettings, ...row?.values };
      if (mine === generation) {
        known = loaded;
        readAt = monotonic();
      }
      return loaded;
    } finally {
      reading = undefined;
    }
  }

  return {
    read() {
      if (known && monotonic() - readAt < MAXIMUM_AGE) return known;
      reading ??= load();
      return reading;
    },
    async write(tx, changes) {
      await tx
        .insertInto('application_settings')
        .values({ id: 1, values: { ...changes } as Json, updated_at: now() })
        .onConflict((conflict) =>
          conflict.column('id').doUpdateSet((eb) => ({
            values: eb(eb.ref('application_settings.values'), '||', eb.ref('excluded.values')),
            updated_at: eb.ref('excluded.updated_at'),
          })),
        )
        .execute();
    },
    forget() {
      generation += 1;
      reading = undefined;
      readAt = Number.NEGATIVE_INFINITY;
    },
  };
}
