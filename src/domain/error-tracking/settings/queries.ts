/** Reads error-tracking settings and client keys. */
import type { Selectable } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { ErrorTrackingClientKeysTable, ErrorTrackingSettingsTable } from '../../../platform/db/rows.ts';
import { type PageRequest, selectPage } from '../../../platform/pagination/page.ts';

export type SettingsRow = Selectable<ErrorTrackingSettingsTable>;
export type KeyRow = Selectable<ErrorTrackingClientKeysTable>;

const settingsOf = (db: Db, projectId: number) =>
  db.selectFrom('error_tracking_settings').selectAll().where('project_id', '=', projectId);

export const selectSettings = (db: Db, projectId: number): Promise<SettingsRow | undefined> =>
  settingsOf(db, projectId).executeTakeFirst();

/** Locks the settings until the commit. */
export const lockSettings = (tx: Db, projectId: number): Promise<SettingsRow | undefined> =>
  settingsOf(tx, projectId).forUpdate().executeTakeFirst();

const keysOf = (db: Db, projectId: number) =>
  db.selectFrom('error_tracking_client_keys').selectAll().where('project_id', '=', projectId);

/** Oldest first. */
export const selectKeys = (db: Db, projectId: number, page: PageRequest) =>
  selectPage(
    db,
    keysOf(db, projectId),
    page,
    { by: 'id', sort: 'asc' },
    {
      id: 'error_tracking_client_keys.id',
    },
  );

export const lockKey = (tx: Db, projectId: number, id: number): Promise<KeyRow | undefined> =>
  keysOf(tx, projectId).where('id', '=', id).forUpdate().executeTakeFirst();
