/** Projects found by search. */
import { sql } from 'kysely';
import { withReached } from '../../../kernel/access/group-list-queries.ts';
import { type ProjectRow, projectColumns, projectTables } from '../../../kernel/namespaces/rows.ts';
import type { Page } from '../../../platform/pagination/page.ts';
import { inContainer, matches, type SearchRequest, searchPage, visibleProjects } from '../../search/index.ts';

export const searchProjects = (request: SearchRequest): Promise<Page<ProjectRow>> =>
  searchPage(request, {
    ctes: withReached(request.actor),
    columns: sql.raw(projectColumns),
    from: sql`${sql.raw(projectTables)} where ${matches(['p.name', 'p.path', 'p.description'], request.search)}
      and ${inContainer(request)} and ${visibleProjects(request)}`,
    order: 'p.created_at desc, p.id desc',
  });
