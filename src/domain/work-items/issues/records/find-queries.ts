/** Finds issues for a caller: a hidden one is 404, as a missing one is. */

import { type AuthorizedProject, authorizeProject } from '../../../../kernel/access/find.ts';
import type { Caller } from '../../../../kernel/actor.ts';
import type { Needs } from '../../../../kernel/services.ts';
import type { Db } from '../../../../platform/db/database.ts';
import type { Sql } from '../../../../platform/db/driver/sql.ts';
import { pointRead } from '../../../../platform/db/point-read.ts';
import { Failure, notFound } from '../../../../platform/failure.ts';
import type { IssueRow } from './issue-rows.ts';
import { seesIssue } from './visibility-queries.ts';

/** The issue, unless it is hidden from the caller; assignees are read for confidential issues only. */
async function revealed(
  db: Db,
  project: AuthorizedProject,
  caller: Caller,
  issue: IssueRow | undefined,
): Promise<IssueRow> {
  if (!issue) throw notFound();
  if (seesIssue(project, caller, issue, [])) return issue;
  const assigned =
    caller &&
    (await db
      .selectFrom('issue_assignees')
      .select('user_id')
      .where('issue_id', '=', issue.id)
      .where('user_id', '=', caller.id)
      .executeTakeFirst());
  if (!assigned) throw notFound();
  return issue;
}

/** The issue of the project by its number; 404 unless it exists and the caller sees it. */
export async function findIssue(
  db: Db,
  project: AuthorizedProject,
  caller: Caller,
  iid: number,
): Promise<IssueRow> {
  const issue = await db
    .selectFrom('issues')
    .selectAll()
    .where('project_id', '=', project.id)
    .where('iid', '=', iid)
    .executeTakeFirst();
  return revealed(db, project, caller, issue);
}

/** Bytes: longer descriptions would hold up those whose rows come by the same connection. */
const SHORT_DESCRIPTION = 16_384;

const shortIssueByNumber = pointRead<IssueRow>(
  ['bigint', 'bigint'],
  `select i.* from issues i where i.project_id = k.v1 and i.iid = k.v2
    and coalesce(octet_length(i.description), 0) <= ${SHORT_DESCRIPTION}`,
);

/** The same for a request that only reads, outside of transactions: together with what others read at this time. */
export async function readIssue(
  { db, services }: { db: Db; services: Needs<'database'> },
  project: AuthorizedProject,
  caller: Caller,
  iid: number,
): Promise<IssueRow> {
  const issue = await shortIssueByNumber(services.database.points, [project.id, iid]);
  return issue ? revealed(db, project, caller, issue) : findIssue(db, project, caller, iid);
}

/** The issue by its id, with its project; 404 unless it exists and the caller sees it. */
export async function findIssueById(
  db: Db,
  sql: Sql,
  caller: Caller,
  id: number,
): Promise<{ issue: IssueRow; project: AuthorizedProject }> {
  const issue = await db.selectFrom('issues').selectAll().where('id', '=', id).executeTakeFirst();
  if (!issue) throw notFound();
  const project = await authorizeProject(sql, caller, 'read_issues', issue.project_id).catch((error) => {
    // A 403 from the project would reveal the issue.
    throw error instanceof Failure && error.kind !== 'unavailable' ? notFound() : error;
  });
  return { issue: await revealed(db, project, caller, issue), project };
}
