/** Epics of groups: their issues, the epics below them, and what they are linked to. Premium and up. */
import type { Capability } from '../../core/capability.ts';
import { childEndpoints } from './child-routes.ts';
import { epicEndpoints } from './epic-routes.ts';
import { eventEndpoints } from './event-routes.ts';
import { issueEndpoints } from './issue-routes.ts';
import { relatedEndpoints } from './related-routes.ts';

export const epicsCapability = (): Capability => ({
  name: 'epics',
  endpoints: [...epicEndpoints, ...childEndpoints, ...issueEndpoints, ...relatedEndpoints, ...eventEndpoints],
  // They go with their group, and an issue's place in one with the issue.
  tables: ['epics', 'epic_issues', 'related_epic_links'],
  async reassign(tx, userId, ghostId) {
    await tx.updateTable('epics').set({ author_id: ghostId }).where('author_id', '=', userId).execute();
    await tx.updateTable('epics').set({ closed_by_id: ghostId }).where('closed_by_id', '=', userId).execute();
  },
});
