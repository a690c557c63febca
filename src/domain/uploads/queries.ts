/** Uploads of a project or group. */

import type { Db } from '../../platform/db/database.ts';
import { type Page, type PageRequest, selectPage } from '../../platform/pagination/page.ts';
import type { Home, UploadRow } from './actions.ts';
import type { UploadRecord } from './schema.ts';

const ofHome = (db: Db, { column, id }: Home) =>
  db.selectFrom('uploads').selectAll('uploads').where(`uploads.${column}`, '=', id);

export const selectUpload = (db: Db, home: Home, id: number): Promise<UploadRow | undefined> =>
  ofHome(db, home).where('uploads.id', '=', id).executeTakeFirst();

export const selectBySecret = (
  db: Db,
  home: Home,
  named: { secret: string; filename: string },
): Promise<UploadRow | undefined> =>
  ofHome(db, home)
    .where('secret', '=', named.secret)
    .where('filename', '=', named.filename)
    .executeTakeFirst();

export type ListedUpload = UploadRow & { uploader_name: string | null; uploader_username: string | null };

/** One page of them, newest first, each with its uploader. */
export const selectUploads = (db: Db, home: Home, page: PageRequest): Promise<Page<ListedUpload>> =>
  selectPage(
    db,
    ofHome(db, home)
      .leftJoin('users', 'users.id', 'uploads.uploader_id')
      .select(['users.name as uploader_name', 'users.username as uploader_username']),
    page,
    { by: 'id', sort: 'desc' },
    { id: 'uploads.id' },
  );

export const presentUpload = (row: ListedUpload): UploadRecord => ({
  id: row.id,
  size: row.size,
  filename: row.filename,
  created_at: row.created_at.toISOString(),
  uploaded_by:
    row.uploader_username === null
      ? null
      : { id: row.uploader_id, name: row.uploader_name ?? '', username: row.uploader_username },
});
