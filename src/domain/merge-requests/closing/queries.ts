/** What is read for closing issues. */
import type { Db } from '../../../platform/db/database.ts';

/** The commits of the present version, newest first. */
export async function selectCommitIds(db: Db, id: number): Promise<string[]> {
  const rows = await db
    .selectFrom('merge_request_commits')
    .select('sha')
    .where('merge_request_id', '=', id)
    .orderBy('place')
    .execute();
  return rows.map(({ sha }) => sha);
}

/** The issues that a merged one closes; none where it is gone, or is not merged. */
export async function selectClosing(
  db: Db,
  id: number,
): Promise<{ iid: number; project_id: number; issues: number[] } | undefined> {
  const rows = await db
    .selectFrom('merge_requests as m')
    .innerJoin('merge_request_closing_issues as c', 'c.merge_request_id', 'm.id')
    .select(['m.iid', 'm.project_id', 'c.issue_id'])
    .where('m.id', '=', id)
    .where('m.state', '=', 'merged')
    .orderBy('c.issue_id')
    .execute();
  const [first] = rows;
  return first && { ...first, issues: rows.map(({ issue_id }) => issue_id) };
}

/** Those of the commits that came with merge requests into the project, which close what they close. */
export async function selectMergedCommits(
  db: Db,
  projectId: number,
  commits: readonly string[],
): Promise<Set<string>> {
  const made = await db
    .selectFrom('merge_requests')
    .select(['merge_commit_sha', 'squash_commit_sha'])
    .where('project_id', '=', projectId)
    .where('state', '=', 'merged')
    .where((where) =>
      where.or([
        where('merge_commit_sha', 'in', [...commits]),
        where('squash_commit_sha', 'in', [...commits]),
      ]),
    )
    .execute();
  const contained = await db
    .selectFrom('merge_request_commits as c')
    .innerJoin('merge_requests as m', 'm.id', 'c.merge_request_id')
    .select('c.sha')
    .where('c.sha', 'in', [...commits])
    .where('m.project_id', '=', projectId)
    .where('m.state', '=', 'merged')
    .execute();
  return new Set([
    ...made.flatMap((row) => [row.merge_commit_sha ?? '', row.squash_commit_sha ?? '']),
    ...contained.map(({ sha }) => sha),
  ]);
}
