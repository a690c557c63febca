/** Snippets of projects in activity feeds: notes on them. */

import { sql } from 'kysely';
import { openTo } from '../../../kernel/access/group-list-queries.ts';
import type { ActivityTarget } from '../../../kernel/activity/targets.ts';
import { shownSnippet } from '../queries.ts';

export const snippetActivityTarget: ActivityTarget = {
  noteColumn: 'snippet_id',
  abilities: ['read_project_snippets'],
  // The same as in seesInProject().
  isVisible: (id, caller) =>
    sql`(v.read_project_snippets and exists (${shownSnippet(
      id,
      sql`and (v.member or s.visibility >= ${sql.lit(openTo(caller))})`,
    )}))`,
  select: (id) => shownSnippet(id),
};
