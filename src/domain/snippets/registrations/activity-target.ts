/** Snippets of projects in activity feeds: notes on them. */
import { type RawBuilder, sql } from 'kysely';
import { openTo } from '../../../kernel/access/group-list.ts';
import type { ActivityTarget } from '../../../kernel/activity/targets.ts';

const inProject = (id: RawBuilder<unknown>) =>
  sql`snippets s where s.id = ${id} and s.project_id = e.project_id`;

export const snippetActivityTarget: ActivityTarget = {
  noteColumn: 'snippet_id',
  abilities: ['read_project_snippets'],
  // The same as in seesInProject().
  isVisible: (id, caller) => sql`(v.read_project_snippets and exists (
    select from ${inProject(id)} and (v.member or s.visibility >= ${sql.lit(openTo(caller))})))`,
  select: (id) => sql`select null as iid, s.title from ${inProject(id)}`,
};
