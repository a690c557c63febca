/** Versions of merge requests, and the commits of the latest one. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import { countedPage, windowOf } from '../../repositories/index.ts';
import type { MergeRequestRow, VersionRow } from '../records/merge-request-rows.ts';

type Of = Pick<MergeRequestRow, 'id'>;

const selectVersions = (db: Db, { id }: Of) =>
  db.selectFrom('merge_request_versions').selectAll().where('merge_request_id', '=', id);

/** The latest version; undefined while there is none. */
export const selectLatestVersion = (db: Db, of: Of): Promise<VersionRow | undefined> =>
  selectVersions(db, of).orderBy('id', 'desc').limit(1).executeTakeFirst();

/** Commits of a version that are shown with it. */
export const MAX_VERSION_COMMITS = 5_000;

/** A version with the ids of its newest commits, newest first; none are known of one that is not the latest. */
export type VersionWithCommits = VersionRow & { commits: string[] };

/** The merge request's version of this id. */
export const selectVersion = (db: Db, of: Of, id: number): Promise<VersionWithCommits | undefined> =>
  selectVersions(db, of)
    .select(
      sql<string[]>`array(select c.sha from merge_request_commits c where c.merge_request_id = ${of.id}
        and not exists (select from merge_request_versions v where v.merge_request_id = ${of.id} and v.id > ${id})
        order by c.place limit ${MAX_VERSION_COMMITS})`.as('commits'),
    )
    .where('id', '=', id)
    .executeTakeFirst();

/** A page of the versions, newest first. */
export const selectVersionPage = (db: Db, of: Of, page: PageRequest): Promise<Page<VersionRow>> =>
  selectPage(db, selectVersions(db, of), page, { by: 'id', sort: 'desc' }, { id: 'id' });

/** A page of the ids of the latest version's commits, newest first. */
export async function selectCommitPage(
  db: Db,
  { id, commits_count }: Pick<MergeRequestRow, 'id' | 'commits_count'>,
  page: PageRequest,
): Promise<Page<string>> {
  const { offset, limit } = windowOf(page);
  const rows = await db
    .selectFrom('merge_request_commits')
    .select('sha')
    .where('merge_request_id', '=', id)
    .where('place', '>=', offset)
    .where('place', '<', offset + limit)
    .orderBy('place')
    .execute();
  return countedPage(
    page,
    rows.map(({ sha }) => sha),
    commits_count,
  );
}
