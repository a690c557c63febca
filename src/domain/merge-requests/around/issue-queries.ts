/** The issues around a merge request: those that it closes, and those that its texts name. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import { type CrossReference, inProjects } from '../../conversation/index.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';

type Of = Pick<MergeRequestRow, 'id'>;

/** The ids of issues that it closes when it is merged, as its texts and commits say. */
export const closedIssues = ({ id }: Of): RawBuilder<unknown> =>
  sql`select issue_id from merge_request_closing_issues where merge_request_id = ${id}`;

/** The ids of these, and of those that the references name. */
export const relatedIssues = (of: Of, named: readonly CrossReference[]): RawBuilder<unknown> =>
  sql`${closedIssues(of)}
    union select s.id from (${inProjects(named)}) named(key, project_id, iid)
    join issues s on s.project_id = named.project_id and s.iid = named.iid`;

/** Notes in which references are looked for, the oldest first. */
const MAX_NOTES = 1_000;
/** Commits, the newest first. */
const MAX_COMMITS = 100;

/** The beginnings of comments that may name issues, `length` characters of each. */
export async function selectNamingComments(
  db: Db,
  { id }: Of,
  { internal, length }: { internal: boolean; length: number },
): Promise<string[]> {
  const { rows } = await sql<{ text: string }>`
    select text from (
      select id, left(body, ${length}) as text from notes
      where merge_request_id = ${id} and system_action is null and (${internal} or not internal)) told
    where text ~ '#[0-9]|/[0-9]' order by id limit ${MAX_NOTES}`.execute(db);
  return rows.map(({ text }) => text);
}

/** The ids of the newest commits. */
export async function selectNewestCommits(db: Db, { id }: Of): Promise<string[]> {
  const rows = await db
    .selectFrom('merge_request_commits')
    .select('sha')
    .where('merge_request_id', '=', id)
    .where('place', '<', MAX_COMMITS)
    .orderBy('place')
    .execute();
  return rows.map(({ sha }) => sha);
}
