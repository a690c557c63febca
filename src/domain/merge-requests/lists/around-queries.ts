/** Clauses of the lists of merge requests around something else: a milestone, an issue, a commit. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { Clause, MilestoneRow } from '../../planning/index.ts';
import type { IssueRow } from '../../work-items/index.ts';

type Identified<Row extends { id: number }> = Pick<Row, 'id'>;

export const inState = (state: string): Clause => ({ where: sql`i.state = ${state}` });

export const ofMilestone = ({ id }: Identified<MilestoneRow>): Clause => ({
  where: sql`i.milestone_id = ${id}`,
  seed: (tail) => sql`select id from merge_requests where milestone_id = ${id} ${tail}`,
});

/** Those whose ids a statement selects. */
export const among = (ids: RawBuilder<unknown>): Clause => ({
  where: sql`i.id in (${ids})`,
  seed: (tail) => sql`select id from (${ids}) found(id) ${tail}`,
});

/** The projects `p` of those whose ids a statement selects. */
export const projectsAmong = (ids: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`p.id in (select m.project_id from merge_requests m where m.id in (${ids}))`;

/** The ids of those that close the issue when they are merged, as their texts and commits say. */
export const closingIssue = ({ id }: Identified<IssueRow>): RawBuilder<unknown> =>
  sql`select merge_request_id from merge_request_closing_issues where issue_id = ${id}`;

/** The ids of those that close the issue, and of those that mention it. */
export const relatedToIssue = (issue: Identified<IssueRow>): RawBuilder<unknown> => sql`${closingIssue(issue)}
    union select mentioned_in_merge_request_id from notes
    where issue_id = ${issue.id} and system_action = 'cross_reference' and mentioned_in_merge_request_id is not null`;

/** The ids of those that brought the commit: it is one of theirs, or what merging or squashing made. */
export const bringingCommit = (sha: string): RawBuilder<unknown> => sql`
    select merge_request_id from merge_request_commits where sha = ${sha}
    union select id from merge_requests where merge_commit_sha = ${sha}
    union select id from merge_requests where squash_commit_sha = ${sha}`;

/** The numbers of the first merge requests of a project that were merged with these commits, by the commits' ids. */
export async function selectFirstBringing(
  db: Db,
  projectId: number,
  shas: readonly string[],
): Promise<Map<string, number>> {
  if (shas.length === 0) return new Map();
  const among = sql`any(${[...shas]}::text[])`;
  const { rows } = await sql<{ sha: string; iid: number }>`
    select distinct on (b.sha) b.sha, m.iid from (
      select sha, merge_request_id as id from merge_request_commits where sha = ${among}
      union select merge_commit_sha, id from merge_requests where merge_commit_sha = ${among}
      union select squash_commit_sha, id from merge_requests where squash_commit_sha = ${among}
    ) b join merge_requests m on m.id = b.id
    where m.project_id = ${projectId} and m.state = 'merged' order by b.sha, m.id`.execute(db);
  return new Map(rows.map(({ sha, iid }) => [sha, iid]));
}
