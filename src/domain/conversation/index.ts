/** Conversation: notes, threads and awards, mounted alike for issues, epics, snippets, commits and alerts. */
import type { Capability } from '../../core/capability.ts';
import { takeAwardsOf } from '../../core/work/awards.ts';
import { awardEndpoints } from './award-routes.ts';
import { commentEndpoints } from './comment-routes.ts';
import { discussionEndpoints } from './discussion-routes.ts';
import { noteEndpoints } from './note-routes.ts';
import { noteableResources } from './noteable-resources.ts';

export const conversationCapability = (): Capability => ({
  name: 'conversation',
  endpoints: [
    ...noteableResources.flatMap((resource) => [
      ...(resource.notes ? noteEndpoints(resource) : []),
      ...discussionEndpoints(resource),
      ...awardEndpoints(resource),
    ]),
    ...commentEndpoints,
  ],
  // Rows go with their noteable by foreign key.
  tables: ['notes', 'award_emoji', 'subscriptions'],
  async reassign(tx, userId, ghostId) {
    await tx.updateTable('notes').set({ author_id: ghostId }).where('author_id', '=', userId).execute();
    await tx
      .updateTable('notes')
      .set({ resolved_by_id: ghostId })
      .where('resolved_by_id', '=', userId)
      .execute();
    await takeAwardsOf(tx, userId);
    await tx.deleteFrom('subscriptions').where('user_id', '=', userId).execute();
  },
});
