/** Writes the application settings. */
import { now } from '../../platform/clock.ts';
import { ahead, type Db } from '../../platform/db/database.ts';
import type { Json } from '../../platform/db/rows.ts';
import type { ApplicationSettings } from './definitions.ts';

/** Merges the changes into the stored settings. */
export async function writeSettings(tx: Db, changes: Partial<ApplicationSettings>): Promise<void> {
  await ahead(tx)
    .insertInto('application_settings')
    .values({ id: 1, values: { ...changes } as Json, updated_at: now() })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((eb) => ({
        values: eb(eb.ref('application_settings.values'), '||', eb.ref('excluded.values')),
        updated_at: eb.ref('excluded.updated_at'),
      })),
    )
    .execute();
}
