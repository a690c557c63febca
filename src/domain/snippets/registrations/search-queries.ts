/** Snippets found by search, and the notes on them. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { GUEST } from '../../../kernel/policy/roles.ts';
import type { Page } from '../../../platform/pagination/page.ts';
import { matches, type SearchRequest, searchPage } from '../../search/index.ts';
import type { SnippetRow } from '../queries.ts';
import { openToCaller, visibleSnippets } from '../visibility-queries.ts';

export const searchSnippets = (request: SearchRequest): Promise<Page<SnippetRow>> =>
  searchPage(request, {
    ctes: sql``,
    columns: sql`snippets.*`,
    from: sql`snippets where ready and ${matches(['title', 'description'], request.search)}
      and ${visibleSnippets(request.actor)}`,
    order: 'created_at desc, id desc',
  });

/** The condition on `notes` that the caller reads the snippet that they tell a mention in; planned once, as in mayInProject(). */
export const readsMentioningSnippet = (caller: Caller): RawBuilder<SqlBool> =>
  sql`exists (
    select from snippets where id = notes.mentioned_in_snippet_id and ready and ${visibleSnippets(caller)} offset 0)`;

/** The condition that the caller reads the snippet of the note `t`. */
export function readsSnippetOfNote(project: AuthorizedProject, caller: Caller): RawBuilder<SqlBool> {
  if (!project.may('read_project_snippets')) return sql`false`;
  const seen =
    project.role >= GUEST || caller?.auditor ? sql`true` : sql`s.visibility >= ${openToCaller(caller)}`;
  return sql`exists (select from snippets s where s.id = t.snippet_id and s.ready and ${seen})`;
}
