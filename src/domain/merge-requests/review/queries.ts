/** Notes on diffs of merge requests, and the versions that they stand at. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { NoteRow } from '../../conversation/index.ts';
import type { VersionRow } from '../records/merge-request-rows.ts';

/** Those of the commits that versions of the merge request show. */
export async function selectKnownCommits(
  db: Db,
  id: number,
  commits: readonly string[],
): Promise<ReadonlySet<string>> {
  const versions = await db
    .selectFrom('merge_request_versions')
    .select(['base_sha', 'start_sha', 'head_sha'])
    .where('merge_request_id', '=', id)
    .where((where) =>
      where.or([
        where('base_sha', 'in', commits),
        where('start_sha', 'in', commits),
        where('head_sha', 'in', commits),
      ]),
    )
    .execute();
  return new Set(versions.flatMap(({ base_sha, start_sha, head_sha }) => [base_sha, start_sha, head_sha]));
}

/** The newest version, and how many there are. */
export const selectNewestVersion = (
  db: Db,
  id: number,
): Promise<(VersionRow & { number: number }) | undefined> =>
  db
    .selectFrom('merge_request_versions')
    .selectAll()
    .select(sql<number>`(count(*) over ())::integer`.as('number'))
    .where('merge_request_id', '=', id)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();

/** The first notes of threads that stand at another version and are not outdated, oldest first, after this note. */
export const selectUntraced = (
  db: Db,
  id: number,
  { base_sha, head_sha }: Pick<VersionRow, 'base_sha' | 'head_sha'>,
  after: number,
  limit: number,
): Promise<Pick<NoteRow, 'id' | 'discussion_id' | 'position'>[]> =>
  db
    .selectFrom('notes')
    .select(['id', 'discussion_id', 'position'])
    .where('merge_request_id', '=', id)
    .where('position', 'is not', null)
    .where('outdated', '=', false)
    .where('id', '>', after)
    .where(
      sql<boolean>`(position ->> 'base_sha', position ->> 'head_sha') is distinct from (${base_sha}, ${head_sha})`,
    )
    .where(
      sql<boolean>`not exists (select from notes earlier where earlier.discussion_id = notes.discussion_id
        and earlier.id < notes.id and earlier.merge_request_id = ${id})`,
    )
    .orderBy('id')
    .limit(limit)
    .execute();
