/** Reads what a merge request changes. */
import type { Db } from '../../../platform/db/database.ts';
import type { DiffEnds } from '../../../platform/git/history/diff-runs.ts';

/** The commits between which the diff of the latest version is. */
export const selectVersionEnds = (db: Db, id: number): Promise<DiffEnds | undefined> =>
  db
    .selectFrom('merge_request_versions')
    .select(['base_sha as from', 'head_sha as to'])
    .where('merge_request_id', '=', id)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
