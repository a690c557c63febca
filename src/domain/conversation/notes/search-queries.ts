/** Notes of a project found by search, as far as the caller may read what they are on. */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Page } from '../../../platform/pagination/page.ts';
import { matches, type SearchRequest, searchPage } from '../../search/index.ts';
import { noteableKinds, noteables } from './noteable-registry.ts';
import { type NoteWithRelations, selectRelations } from './notes.ts';

export function searchNotes(
  request: SearchRequest,
  project: AuthorizedProject,
): Promise<Page<NoteWithRelations>> {
  const { services, actor, search } = request;
  const internal = project.may('read_internal_notes') ? sql`true` : sql`not t.internal`;
  const readable = noteables
    .all(services)
    .flatMap(({ readableNotes }) => (readableNotes ? [readableNotes(project, actor)] : []));
  return searchPage(request, {
    ctes: sql``,
    columns: sql`t.*, ${sql.join(selectRelations('t', noteableKinds(services)))}`,
    from: sql`notes t where t.project_id = ${project.id} and t.system_action is null
      and ${matches(['t.body'], search)} and ${internal} and (${sql.join([...readable, sql`false`], sql` or `)})`,
    order: 't.created_at desc, t.id desc',
  });
}
