/** Conversation: notes, threads and awards, which the owner of each kind of noteable mounts. */
import type { Capability } from '../../core/capability.ts';
import type { Endpoint } from '../../core/endpoint.ts';
import type { Services } from '../../core/services.ts';
import { takeAwardsOf } from '../../core/work/awards.ts';
import { noteableKinds } from '../../core/work/noteable-registry.ts';
import { awardEndpoints } from './award-routes.ts';
import { discussionEndpoints } from './discussion-routes.ts';
import { noteEndpoints } from './note-routes.ts';
import type { NoteableResource } from './noteable-resources.ts';

export { createNote } from './note-actions.ts';
export { groupOf, type NoteableResource, projectOf } from './noteable-resources.ts';
export { type Presenting as PresentContext, presentNote, presentNotePage } from './present.ts';
export { selectNotes } from './queries.ts';
export { MAX_REQUEST_BYTES } from './schema.ts';

/** The endpoints of notes, threads and awards on one kind of noteable. */
export const conversationEndpoints = (resource: NoteableResource): Endpoint[] => [
  ...(resource.notes ? noteEndpoints(resource) : []),
  ...discussionEndpoints(resource),
  ...awardEndpoints(resource),
];

export const conversationCapability = (services: Services): Capability => ({
  name: 'conversation',
  endpoints: [],
  // Rows go with their noteable by foreign key.
  tables: ['notes', 'award_emoji', 'subscriptions'],
  async reassign(tx, userId, ghostId) {
    await tx.updateTable('notes').set({ author_id: ghostId }).where('author_id', '=', userId).execute();
    await tx
      .updateTable('notes')
      .set({ resolved_by_id: ghostId })
      .where('resolved_by_id', '=', userId)
      .execute();
    await takeAwardsOf(tx, noteableKinds(services), userId);
    await tx.deleteFrom('subscriptions').where('user_id', '=', userId).execute();
  },
});
