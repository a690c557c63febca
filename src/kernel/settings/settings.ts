/** The current application settings: one row in the database. */
import type { Db } from '../../platform/db/database.ts';
import type { Sql } from '../../platform/db/driver/sql.ts';
import { createRecent, type Recent } from '../../platform/recent.ts';
import { writeSettings } from './actions.ts';
import { type ApplicationSettings, defaultSettings } from './definitions.ts';
import { selectSettings } from './queries.ts';

export type SettingsSource = Recent<ApplicationSettings> & {
  /** Merges `changes` into the row, in the caller's transaction; read() shows them after forget(). */
  write(tx: Db, changes: Partial<ApplicationSettings>): Promise<void>;
};

export const createSettingsSource = (sql: Sql): SettingsSource => ({
  ...createRecent(async () => ({ ...defaultSettings, ...(await selectSettings(sql)) })),
  write: writeSettings,
});
