/** Notes of a project, as far as the caller may read their noteables. */
import { type RawBuilder, sql } from 'kysely';
import type { AuthorizedProject } from '../../kernel/access/find.ts';
import type { Caller } from '../../kernel/actor.ts';
import { GUEST } from '../../kernel/policy/roles.ts';
import type { Page } from '../../platform/pagination/page.ts';
import { type NoteWithRelations, noteableKinds, selectRelations } from '../conversation/index.ts';
import { openToCaller } from '../snippets/index.ts';
import { matches, searchPage } from './queries.ts';
import type { SearchRequest } from './request.ts';

/** The condition on notes `t` of the project; the same as in the lists of each kind. */
function readable(project: AuthorizedProject, caller: Caller): RawBuilder<unknown> {
  const me = caller?.id ?? 0;
  const issue = sql`(not i.confidential or ${project.may('read_confidential_issues')} or i.author_id = ${me}
    or exists (select from issue_assignees a where a.issue_id = i.id and a.user_id = ${me}))`;
  const snippet =
    project.role >= GUEST || caller?.auditor ? sql`true` : sql`s.visibility >= ${openToCaller(caller)}`;
  const kinds = [
    ...(project.may('read_issues')
      ? [sql`exists (select from issues i where i.id = t.issue_id and ${issue})`]
      : []),
    ...(project.may('read_project_snippets')
      ? [sql`exists (select from snippets s where s.id = t.snippet_id and s.ready and ${snippet})`]
      : []),
    ...(project.may('read_code') ? [sql`t.commit_sha is not null`] : []),
    sql`false`,
  ];
  const internal = project.may('read_internal_notes') ? sql`true` : sql`not t.internal`;
  return sql`${internal} and (${sql.join(kinds, sql.raw(' or '))})`;
}

export const searchNotes = (
  request: SearchRequest,
  project: AuthorizedProject,
): Promise<Page<NoteWithRelations>> =>
  searchPage(request, {
    ctes: sql``,
    columns: sql`t.*, ${sql.join(selectRelations('t', noteableKinds(request.services)))}`,
    from: sql`notes t where t.project_id = ${project.id} and t.system_action is null
      and ${matches(['t.body'], request.search)} and ${readable(project, request.actor)}`,
    order: 't.created_at desc, t.id desc',
  });
