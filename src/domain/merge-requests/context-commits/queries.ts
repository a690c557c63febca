/** The context commits of merge requests. */
import type { Db } from '../../../platform/db/database.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';

const selectAll = (db: Db, { id }: Pick<MergeRequestRow, 'id'>) =>
  db
    .selectFrom('merge_request_context_commits')
    .select(['id', 'sha', 'committed_at'])
    .where('merge_request_id', '=', id);

/** A page of them, the newest first. */
export const selectContextCommitPage = (
  db: Db,
  of: Pick<MergeRequestRow, 'id'>,
  page: PageRequest,
): Promise<Page<{ id: number; sha: string }>> =>
  selectPage(
    db,
    selectAll(db, of),
    page,
    { by: 'committed_at', sort: 'desc' },
    {
      committed_at: 'committed_at',
      id: 'id',
    },
  );

/** The ids of all. */
export const selectContextShas = async (db: Db, of: Pick<MergeRequestRow, 'id'>): Promise<string[]> =>
  (await selectAll(db, of).execute()).map(({ sha }) => sha);
