/** Mirrors of projects: the one that is pulled from, those that are pushed to, and where a project came from. */
import Type from 'typebox';
import { onProject } from '../../kernel/access/access.ts';
import { type Endpoint, endpoint, found, listing, noContent } from '../../kernel/api/endpoint.ts';
import { badRequest } from '../../platform/failure.ts';
import { mapPage } from '../../platform/pagination/page.ts';
import { presentPullMirror, presentRemoteMirror } from './present.ts';
import { askForPull, setPullMirror } from './pull-actions.ts';
import { askForPush, createPushMirror, deletePushMirror, updatePushMirror } from './push-actions.ts';
import { selectPushMirror, selectPushMirrors, selectSource } from './queries.ts';
import {
  CreateRemoteMirror,
  OneRemoteMirror,
  PullMirror,
  RemoteMirror,
  SetPullMirror,
  UpdateRemoteMirror,
} from './schema.ts';

const Nothing = Type.Null({ description: 'No body.' });
const read = onProject('read_mirrors');
const manage = onProject('manage_mirrors');
const one = '/projects/:id/remote_mirrors/:mirror_id' as const;

const pullEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/mirror/pull',
    summary: 'Where a project is pulled from.',
    tier: 'premium',
    access: read,
    reply: PullMirror,
    handle: async ({ db, subject }) => {
      const row = await selectSource(db, subject);
      if (!row?.enabled) throw badRequest('The project is not mirrored');
      return presentPullMirror(row);
    },
  }),
  endpoint({
    method: 'PUT',
    path: '/projects/:id/mirror/pull',
    summary: 'Sets where a project is pulled from; a new address has no name and password of the old one.',
    tier: 'premium',
    access: manage,
    input: SetPullMirror,
    reply: PullMirror,
    handle: async (context) => presentPullMirror(await setPullMirror(context, context.input)),
  }),
  endpoint({
    method: 'POST',
    path: '/projects/:id/mirror/pull',
    summary: 'Pulls a project soon, also after too many failures.',
    tier: 'premium',
    access: manage,
    status: 200,
    reply: Nothing,
    handle: async (context) => {
      await askForPull(context);
      return null;
    },
  }),
];

/** `changed` resolves when every process knows that something is pushed to. */
const pushEndpoints = (changed: () => Promise<void>): Endpoint[] => [
  listing({
    method: 'GET',
    path: '/projects/:id/remote_mirrors',
    summary: 'Mirrors that a project is pushed to, the oldest first.',
    access: read,
    page: 'offset',
    item: RemoteMirror,
    handle: async ({ db, subject, page }) =>
      mapPage(await selectPushMirrors(db, subject, page), presentRemoteMirror),
  }),
  endpoint({
    method: 'GET',
    path: one,
    summary: 'A mirror that a project is pushed to.',
    access: read,
    input: OneRemoteMirror,
    reply: RemoteMirror,
    handle: async ({ db, subject, input }) =>
      presentRemoteMirror(found(await selectPushMirror(db, subject, input.mirror_id), 'Remote Mirror')),
  }),
  endpoint({
    method: 'POST',
    path: '/projects/:id/remote_mirrors',
    summary: 'Makes a mirror that a project is pushed to.',
    access: manage,
    input: CreateRemoteMirror,
    reply: RemoteMirror,
    handle: async (context) => {
      const row = await createPushMirror(context, context.input);
      await changed();
      return presentRemoteMirror(row);
    },
  }),
  endpoint({
    method: 'PUT',
    path: one,
    summary: 'Changes a mirror that a project is pushed to.',
    access: manage,
    input: UpdateRemoteMirror,
    reply: RemoteMirror,
    handle: async (context) => {
      const { mirror_id, ...changes } = context.input;
      const row = await updatePushMirror(context, mirror_id, changes);
      await changed();
      return presentRemoteMirror(row);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: one,
    summary: 'Deletes a mirror that a project is pushed to.',
    access: manage,
    input: OneRemoteMirror,
    reply: noContent,
    handle: async (context) => {
      await deletePushMirror(context, context.input.mirror_id, context.unmodified);
      return null;
    },
  }),
  endpoint({
    method: 'POST',
    path: `${one}/sync`,
    summary: 'Pushes to a mirror now.',
    access: manage,
    input: OneRemoteMirror,
    status: 204,
    reply: noContent,
    handle: async (context) => {
      await askForPush(context, context.input.mirror_id);
      return null;
    },
  }),
];

export const mirrorEndpoints = (changed: () => Promise<void>): Endpoint[] => [
  ...pullEndpoints,
  ...pushEndpoints(changed),
];
