/** Versions that notes on diffs stand at. */
import type { Db } from '../../../platform/db/database.ts';

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
