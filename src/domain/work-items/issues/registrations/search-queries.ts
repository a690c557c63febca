/** Issues found by search, and the notes on them. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { mayInProject } from '../../../../kernel/access/ability-queries.ts';
import type { AuthorizedProject } from '../../../../kernel/access/find.ts';
import type { Caller } from '../../../../kernel/actor.ts';
import type { Page } from '../../../../platform/pagination/page.ts';
import {
  inContainer,
  matches,
  nothing,
  numberOf,
  type SearchRequest,
  searchPage,
} from '../../../search/index.ts';
import type { IssueRow } from '../records/issue-rows.ts';
import { visibleIssues } from '../records/visibility-queries.ts';

/** By words in the title or the description, or by number. */
export async function searchIssues(request: SearchRequest): Promise<Page<IssueRow>> {
  const { actor, search, state, confidential } = request;
  if (state === 'merged') return nothing;
  const visible = visibleIssues(actor, inContainer(request));
  const number = numberOf(search, '#');
  const conditions = [
    number === undefined ? matches(['i.title', 'i.description'], search) : sql`i.iid = ${number}`,
    visible.condition,
    ...(state === 'opened' || state === 'closed' ? [sql`i.state = ${state}`] : []),
    ...(confidential === undefined ? [] : [sql`i.confidential = ${confidential}`]),
  ];
  return searchPage(request, {
    ctes: sql`with ${visible.ctes}`,
    columns: sql`i.*`,
    from: sql`issues i join listed_projects v on v.id = i.project_id where ${sql.join(conditions, sql` and `)}`,
    order: 'i.created_at desc, i.id desc',
  });
}

/**
 * The condition on `notes` that the caller reads the issue that they tell a mention in. What the caller may is not asked within
 * a subquery: it would be planned many times over.
 */
export function readsMentioningIssue(caller: Caller): RawBuilder<SqlBool> {
  const me = caller?.id ?? 0;
  const issue = sql`issues i where i.id = notes.mentioned_in_issue_id`;
  const project = sql`(select i.project_id from ${issue})`;
  return sql`(${mayInProject('read_issues', caller, project)}
    and (exists (select from ${issue} and (not i.confidential or i.author_id = ${me}
        or exists (select from issue_assignees a where a.issue_id = i.id and a.user_id = ${me})))
      or ${mayInProject('read_confidential_issues', caller, project)}))`;
}

/** The condition that the caller reads the issue of the note `t`. */
export function readsIssueOfNote(project: AuthorizedProject, caller: Caller): RawBuilder<SqlBool> {
  if (!project.may('read_issues')) return sql`false`;
  const me = caller?.id ?? 0;
  return sql`exists (select from issues i where i.id = t.issue_id
    and (not i.confidential or ${project.may('read_confidential_issues')} or i.author_id = ${me}
      or exists (select from issue_assignees a where a.issue_id = i.id and a.user_id = ${me})))`;
}
