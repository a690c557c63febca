/** Wiki pages in activity feeds. */
import { sql } from 'kysely';
import type { ActivityTarget } from '../../kernel/activity/targets.ts';
import { shownWikiPage } from './queries.ts';

export const wikiPageActivityTarget: ActivityTarget = {
  type: 'WikiPage::Meta',
  actionNames: { created: 'created', updated: 'updated' },
  abilities: ['read_wiki'],
  // The event of a destruction is visible without its target.
  isVisible: (id) => sql`(v.read_wiki and (e.action = 'destroyed' or exists (${shownWikiPage(id)})))`,
  select: shownWikiPage,
};
