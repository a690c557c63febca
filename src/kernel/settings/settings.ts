/** The current application settings: one row in the database. */
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import type { Sql } from '../../platform/db/driver/sql.ts';
import type { Json } from '../../platform/db/rows.ts';
import { createRecent, type Recent } from '../../platform/recent.ts';
import { type ApplicationSettings, defaultSettings } from './definitions.ts';

export type SettingsSource = Recent<ApplicationSettings> & {
  /** Merges `changes` into the row, in the caller's transaction; read() shows them after forget(). */
  write(tx: Db, changes: Partial<ApplicationSettings>): Promise<void>;
};

export function createSettingsSource(sql: Sql): SettingsSource {
  const recent = createRecent(async (): Promise<ApplicationSettings> => {
    const [row] = await sql<{ values: Partial<ApplicationSettings> }[]>`
      select values from application_settings where id = 1`;
    return { ...defaultSettings, ...row?.values };
  });
  return {
    ...recent,
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
  };
}
