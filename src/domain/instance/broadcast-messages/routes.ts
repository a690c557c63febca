/** Broadcast messages: everybody reads them, administrators write them. */
import { anyone, onInstance } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, found, listing, noContent } from '../../../kernel/api/endpoint.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { createBroadcast, deleteBroadcast, updateBroadcast } from './actions.ts';
import { presentBroadcast } from './present.ts';
import { selectBroadcast, selectBroadcasts } from './queries.ts';
import { BroadcastRecord, CreateBroadcast, OneBroadcast, UpdateBroadcast } from './schema.ts';

export const broadcastEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path: '/broadcast_messages',
    summary: 'Messages of administrators to everybody, newest first.',
    access: anyone,
    page: 'offset',
    item: BroadcastRecord,
    handle: async ({ db, page }) => mapPage(await selectBroadcasts(db, page), presentBroadcast),
  }),
  endpoint({
    method: 'GET',
    path: '/broadcast_messages/:id',
    summary: 'One broadcast message.',
    access: anyone,
    input: OneBroadcast,
    reply: BroadcastRecord,
    handle: async ({ db, input }) =>
      presentBroadcast(found(await selectBroadcast(db, input.id), 'BroadcastMessage')),
  }),
  endpoint({
    method: 'POST',
    path: '/broadcast_messages',
    summary: 'Tells everybody something: on pages, and banners also to those who push.',
    access: onInstance,
    input: CreateBroadcast,
    reply: BroadcastRecord,
    handle: async ({ services, db, actor, input }) =>
      presentBroadcast(await createBroadcast(services, db, actor, input)),
  }),
  endpoint({
    method: 'PUT',
    path: '/broadcast_messages/:id',
    summary: 'Changes a broadcast message; what is not sent stays as it is.',
    access: onInstance,
    input: UpdateBroadcast,
    reply: BroadcastRecord,
    handle: async ({ services, db, actor, input }) => {
      const { id, ...changes } = input;
      return presentBroadcast(await updateBroadcast(services, db, actor, id, changes));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/broadcast_messages/:id',
    summary: 'Deletes a broadcast message.',
    access: onInstance,
    input: OneBroadcast,
    reply: noContent,
    handle: async ({ services, db, actor, input, unmodified }) => {
      await deleteBroadcast(services, db, actor, input.id, unmodified);
      return null;
    },
  }),
];
