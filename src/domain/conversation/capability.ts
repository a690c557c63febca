/** Conversation: notes, threads and awards, which the owner of each kind of noteable mounts. */

import type { Endpoint } from '../../kernel/api/endpoint.ts';
import type { Capability } from '../../kernel/capability.ts';
import type { Needs } from '../../kernel/services.ts';
import { hookSamples, hookSources } from '../hooks/index.ts';
import { awardEndpoints } from './awards/award-routes.ts';
import { awardHooks, awardSample } from './hooks/award-hook-events.ts';
import { noteHooks, noteSamples } from './hooks/note-hook-events.ts';
import { takeAwardsOf } from './noteables/award-actions.ts';
import type { NoteableResource } from './noteables/noteable-resources.ts';
import { removeSubscriptionsOf } from './noteables/subscription-actions.ts';
import { discussionEndpoints, threadsEndpoint } from './notes/discussion-routes.ts';
import { reassignNotes } from './notes/note-actions.ts';
import { noteEndpoints } from './notes/note-routes.ts';
import { noteableKinds } from './notes/noteable-registry.ts';

/** The endpoints of notes, threads and awards on one kind of noteable; pages read its threads. */
export function conversationEndpoints<Path extends string>(resource: NoteableResource<Path>) {
  const threads = threadsEndpoint(resource);
  const all: Endpoint[] = [
    ...(resource.notes ? noteEndpoints(resource) : []),
    threads,
    ...discussionEndpoints(resource),
    ...awardEndpoints(resource),
  ];
  return { threads, all };
}

export const conversationCapability = (services: Needs<'registered'>): Capability => ({
  name: 'conversation',
  endpoints: [],
  registrations: [hookSources.add(...noteHooks, ...awardHooks), hookSamples.add(...noteSamples, awardSample)],
  // Rows go with their noteable by foreign key.
  tables: ['notes', 'award_emoji', 'subscriptions'],
  async reassign(tx, userId, ghostId) {
    await reassignNotes(tx, userId, ghostId);
    await takeAwardsOf(tx, noteableKinds(services), userId);
    await removeSubscriptionsOf(tx, userId);
  },
});
