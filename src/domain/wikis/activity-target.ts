/** Wiki pages in activity feeds. */
import { sql } from 'kysely';
import type { ActivityTarget } from '../../kernel/activity/targets.ts';

const select: NonNullable<ActivityTarget['select']> = (id) =>
  sql`select null as iid, w.title from wiki_pages w where w.id = ${id} and w.project_id = e.project_id`;

export const wikiPageActivityTarget: ActivityTarget = {
  type: 'WikiPage::Meta',
  actionNames: { created: 'created', updated: 'updated' },
  abilities: ['read_wiki'],
  // The event of a destruction is visible without its target.
  isVisible: (id) => sql`(v.read_wiki and (e.action = 'destroyed' or exists (${select(id)})))`,
  select,
};
