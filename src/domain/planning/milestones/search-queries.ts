/** Milestones of projects found by search; those of groups are in no search. */
import { sql } from 'kysely';
import { withReached } from '../../../kernel/access/group-list-queries.ts';
import type { Page } from '../../../platform/pagination/page.ts';
import { inContainer, matches, type SearchRequest, searchPage, visibleProjects } from '../../search/index.ts';
import type { MilestoneWithPath } from './milestone-records.ts';

export const searchMilestones = (request: SearchRequest): Promise<Page<MilestoneWithPath>> =>
  searchPage(request, {
    ctes: withReached(request.actor),
    columns: sql`m.*, n.full_path || '/' || p.path as full_path`,
    from: sql`milestones m join projects p on p.id = m.project_id join namespaces n on n.id = p.namespace_id
      where ${matches(['m.title', 'm.description'], request.search)}
      and ${inContainer(request)} and ${visibleProjects(request)}`,
    order: 'm.created_at desc, m.id desc',
  });
